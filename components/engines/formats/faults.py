"""Finds number formats that an engine does not start with: on an accelerator, or with the weights of a model."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ..settings import Setting
from ..versions import Version, engine_title
from .rows import AttentionRule, FormatTable, format_table, is_known

_SYNONYMS = {"half": "float16", "float": "float32"}
_WIDE = ("bfloat16", "float16", "float32")
AUTO = ("", "auto")
"""Values of the flags that leave the choice to the engine."""
EVERY_TYPE = Decimal(8)
"""Capability that computes bfloat16, and with it weights of every type that no table excludes (vLLM issue 1157)."""


@dataclass(frozen=True, slots=True)
class FormatUse:
    """The number formats of a server and its model.

    Attributes:
        engine: Name of the engine.
        tag: Its version tag (:meth:`..registry.Engine.version_tag`).
        model: Name of the model.
        weights: Type of its weights, such as ``bfloat16`` or ``mxfp4``; empty if unknown.
        dtype: Value of the flag for the type of computation; empty if it is not set.
        quantization: Value of the flag for the method of quantization; empty if it is not set.
        experts: Whether the model has experts.
    """

    engine: str
    tag: str
    model: str
    weights: str = ""
    dtype: str = ""
    quantization: str = ""
    experts: bool = False


class FormatFault(NamedTuple):
    """Why an engine does not start.

    Attributes:
        reason: The cause.
        setting: The setting whose value is at fault; None if the accelerator is.
        value: Value of that setting with which the engine starts; empty if it starts without the flag.
        release: First release that has the method; None if the release is not at fault.
    """

    reason: str
    setting: Setting | None = None
    value: str = ""
    release: Version | None = None


def format_fault(use: FormatUse, capability: Decimal | None) -> FormatFault | None:
    """Return why a server does not start with its number formats; None if it does, or if that is not known.

    Args:
        use: The formats.
        capability: Compute capability of the accelerator; None if it is unknown, or not one of NVIDIA.
    """
    table = format_table(use.engine)
    if table is None:
        return None
    return _of_weights(use, table) or (_of_accelerator(use, table, capability) if capability else None)


def attention_fault(
    engine: str, tag: str, backend: str, cache: str, capability: Decimal | None
) -> FormatFault | None:
    """Return why a server does not start with its attention backend or the type of its KV cache; None if it does.

    Args:
        engine: Name of the engine.
        tag: Its version tag.
        backend: Value of the flag for the backend; empty if it is not set.
        cache: Value of the flag for the type of the cache; empty if it is not set.
        capability: Compute capability of the accelerator; None if it is unknown, or not one of NVIDIA.
    """
    table = format_table(engine)
    if table is None:
        return None
    version, title = table.engine.version(tag), engine_title(engine, tag)
    # vLLM reads the names of backends in any case, from its variable too.
    names = (backend, backend.upper()) if backend else ()
    for rule in table.attention:
        if not is_known(rule.span, version) or rule.allows(capability):
            continue
        if (rule.backends and not set(rule.backends) & {*names}) or (rule.cache and cache not in rule.cache):
            continue
        parts = [
            f"{table.engine.flag(setting)} {value}"
            for setting, value, is_part in (
                (Setting.ATTENTION_BACKEND, backend, rule.backends),
                (Setting.CACHE_TYPE, cache, rule.cache),
            )
            if is_part
        ]
        setting = Setting.ATTENTION_BACKEND if rule.backends else Setting.CACHE_TYPE
        cause = f"{title} does not start with {' and '.join(parts)}"
        if rule.least is not None or rule.below is not None:
            needs = "need" if len(parts) > 1 else "needs"
            cause += f", which {needs} {_capabilities(rule)}, and this GPU has {capability}"
        return FormatFault(cause, setting)
    return None


def _capabilities(rule: AttentionRule) -> str:
    """Name the compute capabilities of a rule."""
    least = f"{rule.least} or more" if rule.least is not None else ""
    below = f"less than {rule.below}" if rule.below is not None else ""
    return f"compute capability {' and '.join(filter(None, (least, below)))}"


def computed_type(use: FormatUse, capability: Decimal | None) -> str:
    """Return the type that unquantized weights are converted to because of the accelerator; empty if they are not."""
    table = format_table(use.engine)
    if table is None or capability is None or use.weights not in _WIDE or use.dtype not in AUTO:
        return ""
    version = table.engine.version(use.tag)
    row = table.type_in(use.weights, version)
    if row is None or capability >= row.least.capability or not row.auto:
        return ""
    return "float32" if table.refuses_float16(use.model, version) else row.auto


def _of_weights(use: FormatUse, table: FormatTable) -> FormatFault | None:
    """Return the problem of a method of quantization that is not that of the weights."""
    method, title = use.quantization, engine_title(use.engine, use.tag)
    chosen = f"{table.engine.flag(Setting.QUANTIZATION)} {method}"
    if use.weights in _WIDE and method in table.quantized_only:
        cause = f"{chosen} loads weights that are quantized already, and those of {use.model} are {use.weights}"
    elif method in table.other_method.get(use.weights, ()):
        cause = f"{chosen} is not the method by which {use.model} is quantized ({use.weights})"
    else:
        return None
    return FormatFault(f"{cause}, so that {title} does not start", Setting.QUANTIZATION)


def _of_accelerator(use: FormatUse, table: FormatTable, capability: Decimal) -> FormatFault | None:
    title, version = engine_title(use.engine, use.tag), table.engine.version(use.tag)

    def refused(what: str, least: Decimal, setting: Setting | None = None, value: str = "") -> FormatFault:
        if least.is_infinite():
            reason = f"{title} has no method of quantization for {what} yet, so that it does not start"
            return FormatFault(reason, release=table.first_release(methods))
        cause = f"{title} computes {what} from compute capability {least} on, and this GPU has {capability}"
        return FormatFault(f"{cause}, so that it does not start", setting, value)

    # One method by which the weights can be loaded is enough; if one is not known for the version, nothing is.
    is_given = use.quantization not in AUTO
    methods = (
        (table.scheme(use.quantization, use.weights),) if is_given else table.methods_for(use.weights, use.model)
    )
    own = table.least_for("", version)
    if own is not None and capability < own:
        return refused("models", own)
    newest = table.most_for(version)
    if newest is not None and capability > newest:
        cause = (
            f"the image of {title} has code for GPUs up to compute capability {newest}, and this one has {capability}"
        )
        return FormatFault(f"{cause}, so that it does not start")

    needs = [table.least_for(method, version, experts=use.experts) for method in methods]
    known = [least for least in needs if least is not None]
    if known and len(known) == len(needs) and capability < min(known):
        return refused(use.quantization if is_given else use.weights, min(known))

    # Without a flag, quantized weights are computed in a type that is known from the model's files only.
    is_auto = use.dtype in AUTO
    type_ = use.weights if is_auto else _SYNONYMS.get(use.dtype, use.dtype)
    row = table.type_in(type_, version)
    if row and capability < row.least.capability and not (row.auto and (is_auto or row.always)):
        works = row.instead if not table.refuses_float16(use.model, version) else ""
        return refused(type_, row.least.capability, Setting.DTYPE if works else None, works)
    if type_ == "float16" and not is_auto and table.refuses_float16(use.model, version):
        value = "bfloat16" if capability >= _least_of(table, "bfloat16") else ""
        cause = f"{title} does not compute {use.model} in float16, which is numerically unstable for it"
        return FormatFault(f"{cause}, and does not start", Setting.DTYPE if value else None, value)
    return None


def _least_of(table: FormatTable, name: str) -> Decimal:
    return max((row.least.capability for row in table.types if row.name == name), default=Decimal(0))


def is_computed(use: FormatUse, capability: Decimal) -> bool:
    """Return whether a server is known to start on an accelerator with its number formats, in a type of 16 bits."""
    if format_fault(use, capability):
        return False
    if capability >= EVERY_TYPE:
        return True
    table = format_table(use.engine)
    computed = _SYNONYMS.get(use.dtype, use.dtype) if use.dtype not in AUTO else use.weights
    if table is None or computed == "float16":
        return computed == "float16"
    if not table.types:
        return True
    version = table.engine.version(use.tag)
    if use.weights not in _WIDE:
        methods = table.methods_for(use.weights, use.model)
        needs = [table.least_for(method, version, experts=use.experts) for method in methods]
        if not any(least is not None and least <= capability for least in needs):
            return False
    row = table.type_in("bfloat16", version)
    falls_back = row is not None and row.auto and (use.dtype in AUTO or row.always)
    return bool(falls_back) and not table.refuses_float16(use.model, version)
