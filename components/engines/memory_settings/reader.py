"""Reads the settings of a command line that determine the memory use of its server."""

import functools
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ..command_line import CommandLine
from ..flags.values import is_filled_later, json_object
from ..memory.encoders import MediaLimits
from ..memory.reserve import DraftKind
from ..numbers import parse_int
from ..scripts.commands import engine_line
from ..served.adapters import adapters_of
from ..served.names import positional
from ..settings import Setting
from .layout import ModelLayout, model_layout, offloads_to_host
from .media import media_limits
from .positions import overrides_positions_only
from .settings import (
    OFF,
    FlagValues,
    SettingsReader,
    UnclearError,
    Variables,
    flag_values,
    unclear_flag,
    unclear_variable,
    variable_values,
)
from .table import memory_settings_table

_FOUR_BYTES = ("float", "float32")
_MODELS = (Setting.MODEL, Setting.MODEL_REPOSITORY, Setting.MODEL_ADDRESS)
_CONFIG_OVERRIDES = (Setting.MODEL_CONFIG, Setting.MODEL_METADATA)
"""Settings that override the model's own configuration."""


class RequestLimits(NamedTuple):
    """How much a server holds at once; None if not set.

    Attributes:
        context: Tokens of a request including its answer; None for the model's own context.
        is_open: Whether the server chooses the context by the remaining memory.
    """

    context: int | None = None
    is_open: bool = False
    sequences: int | None = None


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The settings of a server that affect its memory use.

    Attributes:
        model: Repository, folder, file, or URL of the weights.
        dtype: Value of the flag for the type of computation; empty if it is not set.
        quantization: Value of the flag for the method of quantization; empty if it is not set.
        converted: Type to which the weights are converted; empty if they are not.
        quantized: Whether the weights must already be quantized.
        bits: Least and most bits per parameter of such weights; None if the method has several widths.
        key_bytes: Bytes per number of a key in the cache.
        value_bytes: Bytes per number of a value in the cache.
        share: Share of the memory that may be used; None if not set.
        offloads_to_host: Whether weights that do not fit stay in host memory.
        draft: Draft model for speculative decoding; empty without one.
        draft_kind: What proposes tokens, as far as the engine reserves memory for it.
        draft_tensor: Tensor parallel size of the draft model; None if equal to that of the model.
        adapters: Maximum number of adapters in memory.
        adapter_rank: Their maximum rank.
        graphs: Whether it may use CUDA graphs.
        graph_requests: Requests in the largest CUDA graph; None if not set.
        states: Number of fixed states that it keeps; None if not set.
        state_ratio: Memory of these states, as a multiple of that of the rest of the cache; None if not set.
        prefix_caching: Whether it keeps the cache of earlier requests.
        media: What requests may contain beside text.
    """

    model: str
    dtype: str = ""
    quantization: str = ""
    converted: str = ""
    quantized: bool = False
    bits: tuple[Decimal, Decimal] | None = None
    key_bytes: Decimal = Decimal(2)
    value_bytes: Decimal = Decimal(2)
    limits: RequestLimits = field(default_factory=RequestLimits)
    batch_tokens: int | None = None
    share: Decimal | None = None
    layout: ModelLayout = field(default_factory=ModelLayout)
    offloads_to_host: bool = False
    draft: str = ""
    draft_kind: DraftKind = DraftKind.NONE
    draft_tensor: int | None = None
    adapters: int = 0
    adapter_rank: int = 0
    graphs: bool = True
    graph_requests: int | None = None
    states: int | None = None
    state_ratio: Decimal | None = None
    prefix_caching: bool = True
    media: MediaLimits = field(default_factory=MediaLimits)


def memory_settings_of(line: CommandLine, variables: Variables = (), *, more: bool = False) -> MemorySettings | str:
    """Return the settings of a server that affect its memory use, or the reason why they are unknown.

    Args:
        line: The command line of the container, which may be in a script.
        variables: The environment variables of the container.
        more: Whether the container has further, unknown variables.
    """
    table, own = memory_settings_table(line.engine), engine_line(line)
    if table is None:
        return f"no figures on the memory use of {line.engine or 'its server'}"
    reading = own.reading if own else None
    if own is None or reading is None:
        program = "a script" if line.is_script else "another program"
        return f"its server is started by {program}, so that its settings are not known"
    unclear = unclear_flag(own, reading, table) or unclear_variable(variables, table)
    if unclear:
        return unclear
    values = variable_values(table, variables, more=more)
    return _memory_settings(
        line.engine,
        own.tag,
        flags=flag_values(own, reading),
        variables=values,
        stray=positional(own),
        adapters=len(adapters_of(own)),
    )


# Cached by exactly the inputs that affect memory use: thousands of servers differ only in names.
@functools.lru_cache(maxsize=8192)
def _memory_settings(
    engine: str,
    tag: str,
    flags: FlagValues,
    variables: tuple[tuple[Setting, str | None], ...],
    stray: str,
    adapters: int,
) -> MemorySettings | str:
    table = memory_settings_table(engine)
    assert table is not None  # noqa: S101  checked by the caller
    settings = SettingsReader(table, tag, flags, dict(variables))
    try:
        model = _model(settings, stray)
        draft, draft_tensor = _draft_model(settings)
        most_adapters, adapter_rank = _adapter_limits(settings, adapters)

        both = _cache_type_bytes(settings, Setting.CACHE_TYPE)
        key_bytes = _cache_type_bytes(settings, Setting.CACHE_TYPE_K)
        value_bytes = _cache_type_bytes(settings, Setting.CACHE_TYPE_V)
        dtype = settings.text(Setting.DTYPE) or ""
        is_four_bytes = dtype in _FOUR_BYTES
        default_bytes = both or Decimal(4 if is_four_bytes else 2)

        converted, quantized = "float32" if is_four_bytes else "", False
        method = None if is_four_bytes else settings.text(Setting.QUANTIZATION)
        if method and method != "None":
            converted = table.converts.get(method, "")
            quantized = not converted
        return MemorySettings(
            model=model,
            dtype=dtype,
            quantization=settings.text(Setting.QUANTIZATION) or "",
            converted=converted,
            quantized=quantized,
            bits=table.bits.get(method) if method and quantized else None,
            key_bytes=key_bytes or default_bytes,
            value_bytes=value_bytes or default_bytes,
            limits=_request_limits(settings),
            batch_tokens=_batch_tokens(settings),
            share=settings.decimal(Setting.GPU_MEMORY),
            layout=model_layout(settings),
            offloads_to_host=offloads_to_host(settings),
            draft=draft,
            draft_kind=_draft_kind(settings, draft),
            draft_tensor=draft_tensor,
            adapters=most_adapters,
            adapter_rank=adapter_rank,
            graphs=not settings.is_on(Setting.NO_GRAPHS),
            graph_requests=settings.number(Setting.GRAPH_REQUESTS),
            states=settings.number(Setting.STATES),
            state_ratio=settings.decimal(Setting.STATE_RATIO),
            prefix_caching=not settings.is_on(Setting.NO_PREFIX_CACHING),
            media=media_limits(settings),
        )
    except UnclearError as error:
        return str(error)


def _model(settings: SettingsReader, stray: str) -> str:
    model = next(filter(None, map(settings.text, _MODELS)), "") or stray
    if not model:
        raise UnclearError("its server is started without a model")
    if is_filled_later(model):
        raise UnclearError(f"the model is {model}, which is filled in later")
    for setting in _CONFIG_OVERRIDES:
        text = settings.text(setting)
        if text is not None and not (setting is Setting.MODEL_CONFIG and overrides_positions_only(text)):
            raise UnclearError(f"{settings.named(setting)} overrides the configuration of the model")
    return model


def _cache_type_bytes(settings: SettingsReader, setting: Setting) -> Decimal | None:
    """Return the bytes per number of a cache type; None if it is that of the weights."""
    text = settings.text(setting)
    if not text or text in settings.table.whole_cache:
        return None
    return settings.table.cache.get(text) or settings.fail(setting, text)


def _request_limits(settings: SettingsReader) -> RequestLimits:
    sequences, text = settings.number(Setting.CONCURRENCY), settings.text(Setting.CONTEXT)
    sequences = None if sequences is not None and sequences < 1 else sequences
    if text == "auto" or (text and parse_int(text) == -1):
        return RequestLimits(None, is_open=True, sequences=sequences)
    context, default = settings.number(Setting.CONTEXT), settings.table.context(settings.version)
    if context is None and default is not None:
        settings.need_version("the default context")
        context = default.tokens
        if context is None:
            return RequestLimits(None, is_open=True, sequences=sequences)
    if context is not None and context < 1:
        context = None
    scaling = next(
        (setting for setting in (Setting.ROPE_SCALING, Setting.MODEL_CONFIG) if settings.text(setting)), None
    )
    if context is None and scaling:
        raise UnclearError(f"{settings.named(scaling)} changes the context of the model")
    if not settings.table.shared_context:
        return RequestLimits(context, sequences=sequences)
    sequences = sequences or 1
    return RequestLimits(context and max(context // sequences, 1), sequences=sequences)


def _batch_tokens(settings: SettingsReader) -> int | None:
    if settings.table.engine.flag(Setting.CHUNK_TOKENS):
        # A batch has at most one chunk of tokens; without chunks, those of all new prompts.
        chunk = settings.number(Setting.CHUNK_TOKENS)
        if chunk is None or chunk > 0:
            return chunk
        return settings.number(Setting.BATCH_TOKENS) or settings.table.batch_without_chunks
    tokens = settings.number(Setting.MICRO_BATCH_TOKENS) or settings.number(Setting.BATCH_TOKENS)
    if tokens or not settings.number(Setting.INPUT):
        return tokens
    is_input = settings.holds(settings.table.batch_of_input, "how many tokens are computed at a time")
    return settings.number(Setting.INPUT) if is_input else None


def _draft_model(settings: SettingsReader) -> tuple[str, int | None]:
    """Return the draft model and its tensor parallel size."""
    text, keys = settings.text(Setting.SPECULATION), settings.table.speculation
    if not text:
        return settings.text(Setting.DRAFT_MODEL) or "", None
    document = json_object(text)
    if document is None or not keys:
        return settings.fail(Setting.SPECULATION, text)
    method, model = (str(document.get(keys[name]) or "") for name in ("method", "model"))
    if method in keys["heads"]:
        raise UnclearError(f"the size of the heads of {method} is not known")
    if method in keys["own"] or model in keys["own"] or method.endswith("_mtp"):
        return "", None
    tensor = document.get(keys["tensor"])
    return model, tensor if isinstance(tensor, int) and not isinstance(tensor, bool) and tensor > 0 else None


def _draft_kind(settings: SettingsReader, draft: str) -> DraftKind:
    """Return what proposes tokens; engines that read it from JSON reserve nothing for it."""
    method = (settings.text(Setting.DRAFT_METHOD) or "").upper()
    if method in settings.table.draft_heads:
        return DraftKind.HEADS
    return DraftKind.MODEL if draft and method in settings.table.draft_models else DraftKind.NONE


def _adapter_limits(settings: SettingsReader, count: int) -> tuple[int, int]:
    """Return the maximum number and rank of adapters in memory; ``count`` are given in the command line."""
    switch = settings.text(Setting.ADAPTERS_ON)
    if switch == OFF or not (count or settings.is_on(Setting.ADAPTERS_ON)):
        return 0, 0
    defaults = settings.table.adapters
    most = settings.number(Setting.MOST_ADAPTERS) or defaults.get("most") or count
    rank = settings.number(Setting.MOST_RANK) or defaults.get("rank")
    if rank is None:
        raise UnclearError("the rank of its adapters is not known")
    return most, rank
