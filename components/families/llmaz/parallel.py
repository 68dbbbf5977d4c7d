"""Tensor and pipeline parallelism from a flavor's params (design decision 6, llmaz spec 2.9)."""

from dataclasses import dataclass

from ...api.findings import Findings
from ...api.quantity import parse_quantity
from ...engines.registry import Engine, reaches
from ...nodes.instances import instance
from .backend import ChosenBackend
from .flavors import param
from .types import Flavor

_OTHER_SPLITS = ("--data-parallel-size", "-dp", "--dp-size", "--dp", "--sharded")
"""Flags of vLLM, SGLang and TGI that use several accelerators in another way."""


@dataclass(frozen=True, slots=True)
class Parallelism:
    """How one replica is spread over accelerators and pods.

    Attributes:
        tensor, pipeline: What the flavor's params say; None where they say nothing.
        size: Pods of a group.
        per_pod: Accelerators of one pod, where they differ from the flavor's limits.
    """

    tensor: int | None = None
    pipeline: int | None = None
    size: int = 1
    per_pod: dict[str, str] | None = None


def parallelism_of(flavor: Flavor | None, path: str, findings: Findings) -> Parallelism:
    """Read TP and PP and size the group; their product must be the accelerators of the group."""
    if flavor is None:
        return Parallelism()
    tensor, pipeline = _positive(flavor, "TP", path, findings), _positive(flavor, "PP", path, findings)
    key, count = accelerators(flavor)
    size = pipeline or 1
    per_pod = None
    per_node = _per_node(flavor)
    if tensor and size == 1 and per_node and tensor == count and count > per_node and count % per_node == 0:
        size, per_pod = count // per_node, {key: str(per_node)}
    if tensor or pipeline:
        total = count * (1 if per_pod else size)
        product = (tensor or count) * (pipeline or 1)
        if product != total:
            findings.error(
                path,
                f"flavor {flavor.name!r}: TP {tensor or 1} x PP {pipeline or 1} = {product}, but a group of {size} "
                f"pod{'s' * (size > 1)} has {total} accelerators; limits apply to each pod, so set them to TP",
            )
    return Parallelism(tensor, pipeline, size, per_pod)


def accelerators(flavor: Flavor) -> tuple[str, int]:
    """Return which extended resource a flavor limits, and how many of it a pod gets."""
    for key, value in (flavor.limits or {}).items():
        if "/" in key:
            return key, int(parse_quantity(value))
    return "", 0


def _per_node(flavor: Flavor) -> int:
    node = instance(param(flavor, "INSTANCE-TYPE") or "")
    return node.accelerators if node else 0


def _positive(flavor: Flavor, key: str, path: str, findings: Findings) -> int | None:
    text = param(flavor, key)
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        findings.error(
            path, f"flavor {flavor.name!r}: param {key} must be a whole number of at least 1, found {text!r}"
        )
        return None
    return int(text)


def parallel_args(
    parallelism: Parallelism,
    recommended: list[str],
    user: list[str],
    backend: ChosenBackend,
    path: str,
    findings: Findings,
) -> list[str]:
    """Return the recommended arguments with the engine's flags for it; what the user wrote must agree."""
    args, engine = recommended, backend.engine
    since = engine.pipeline_from if engine else None
    if since and (parallelism.pipeline or 1) > 1 and not reaches(backend.version, since):
        first = ".".join(map(str, since))
        findings.error(
            path,
            f"pipeline parallelism requires {backend.runtime.metadata.name} {first} or later, found "
            f"{backend.version}; set backendRuntimeConfig.version, or use runtimes 'current'",
        )
    for word, value, flag in (
        ("tensor", parallelism.tensor, engine.tensor_flag if engine else None),
        ("pipeline", parallelism.pipeline, engine.pipeline_flag if engine else None),
    ):
        if value is None:
            continue
        spellings = (flag, *(engine.aliases.get(word, ()) if engine else ())) if flag else ()
        written = _value_of(user, spellings)
        if flag is None and value > 1 and (word == "pipeline" or engine is None):
            name = engine.name if engine else "this engine"
            findings.error(
                path,
                f"{word} parallelism {value} is requested, but {name} has no flag for it; remove the param, or "
                "choose another backend",
            )
        elif written is not None and written != str(value):
            findings.error(
                "spec.backendRuntimeConfig.args",
                f"{flag} is {written} here, but {value} in the flavor's params; remove one of the two",
            )
        elif flag and written is None and (value > 1 or word == "tensor"):
            args = [*_without(args, spellings), flag, str(value)]
    return args


def _value_of(args: list[str], flags: tuple[str, ...]) -> str | None:
    known = {_dashed(flag) for flag in flags}
    for position, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if _dashed(name) in known:
            return value if equals else (args[position + 1] if position + 1 < len(args) else "")
    return None


def _dashed(flag: str) -> str:
    """Some engines take ``--a_b`` for ``--a-b``."""
    return flag.replace("_", "-")


def _without(args: list[str], flags: tuple[str, ...]) -> list[str]:
    rest = iter(args)
    kept = []
    for arg in rest:
        if arg in flags:
            next(rest, None)
        elif arg.partition("=")[0] not in flags:
            kept.append(arg)
    return kept


def check_use(
    parallelism: Parallelism,
    flavor: Flavor | None,
    engine: Engine | None,
    user: list[str],
    path: str,
    findings: Findings,
) -> None:
    """Warn where an engine would leave accelerators idle that it was given."""
    count = accelerators(flavor)[1] if flavor else 0
    if (
        flavor is None
        or count < 2
        or parallelism.tensor
        or parallelism.pipeline
        or not engine
        or not engine.tensor_flag
    ):
        return
    spellings = (engine.tensor_flag, *engine.aliases.get("tensor", ()), *engine.aliases.get("pipeline", ()))
    if _value_of(user, (*spellings, engine.pipeline_flag or "", *_OTHER_SPLITS)) is None:
        findings.warn(
            path,
            f"flavor {flavor.name!r} provides {count} accelerators, but without {engine.tensor_flag} {engine.name} "
            f"uses only one; add params: {{TP: '{count}'}}",
        )


def limits_of(flavor: Flavor | None, parallelism: Parallelism) -> dict[str, str | int | float]:
    """Return what a pod of the group is given by its flavor."""
    limits = dict(flavor.limits or {}) if flavor else {}
    return {**limits, **(parallelism.per_pod or {})}
