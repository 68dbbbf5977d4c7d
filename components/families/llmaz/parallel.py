"""Tensor and pipeline parallelism from a flavor's params (decision 58, llmaz spec 2.9)."""

from collections.abc import Iterator
from typing import NamedTuple

from ...contract.findings.collector import Findings
from ...contract.findings.ids import RuleId
from ...contract.quantity import parse_quantity
from ...engines.composing import ManagedSettings
from ...engines.registry import engines
from ...engines.settings import Feature, Setting
from ...engines.versions import format_version
from ...fleet.flavors import Flavor
from ...fleet.instances import instance
from .backend import ChosenBackend
from .flavors import param


class Parallelism(NamedTuple):
    """How one replica is spread over accelerators and pods.

    Attributes:
        tensor, pipeline: The flavor's params; None if unset.
        size: Pods of a group.
        per_pod: Accelerators of one pod, if they differ from the flavor's limits.
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
    node = instance(param(flavor, "INSTANCE-TYPE") or "")
    per_node = node.accelerators if node else 0
    # The limits exceed one node: spread the replica over several whole nodes.
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
                RuleId.GPUS_MISMATCH,
            )
    return Parallelism(tensor, pipeline, size, per_pod)


def accelerators(flavor: Flavor) -> tuple[str, int]:
    """Return the extended resource in a flavor's limits and its number per pod."""
    for key, value in (flavor.limits or {}).items():
        if "/" in key:
            return key, int(parse_quantity(value))
    return "", 0


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


def parallelism_settings(parallelism: Parallelism, backend: ChosenBackend) -> ManagedSettings:
    """Return the parallelism settings that the user's own arguments do not set."""
    return tuple(
        (setting, str(value))
        for setting, value in _sizes(parallelism)
        if (value > 1 or setting is Setting.TENSOR_PARALLEL) and not backend.user.line.holds(setting)
    )


def _sizes(parallelism: Parallelism) -> Iterator[tuple[Setting, int]]:
    for setting, value in (
        (Setting.TENSOR_PARALLEL, parallelism.tensor),
        (Setting.PIPELINE_PARALLEL, parallelism.pipeline),
    ):
        if value is not None:
            yield setting, value


def check_parallelism(parallelism: Parallelism, backend: ChosenBackend, path: str, findings: Findings) -> None:
    """Report parallelism that the engine does not support or the user's arguments contradict."""
    engine, user = backend.engine, backend.user.line
    span = engine.features.get(Feature.PIPELINE_PARALLEL) if engine else None
    if engine and span and (parallelism.pipeline or 1) > 1 and not span.includes(engine.version(backend.tag)):
        required = f"{backend.runtime.metadata.name} {format_version(span.since or ())} or later"
        findings.error(
            path,
            f"pipeline parallelism requires {required}, found {backend.version}; set "
            "backendRuntimeConfig.version, or use runtimes 'current'",
            RuleId.ENGINE_TOO_OLD,
        )
    for setting, value in _sizes(parallelism):
        flag = engine.flag(setting) if engine else None
        if engine is None and setting is Setting.TENSOR_PARALLEL and value > 1:
            if user.holds(setting) or backend.recommended.holds(setting):
                continue
            # Only a warning: models are shared, and other backends may support the params.
            findings.warn(
                path,
                f"TP {value} of the flavor is not passed on, because it is unknown which engine BackendRuntime "
                f"{backend.runtime.metadata.name!r} runs; put its own flag in backendRuntimeConfig.args, or name the "
                f"runtime after the engine ({', '.join(engines())})",
                RuleId.ENGINE_UNKNOWN,
            )
        elif flag and user.holds(setting) and user.value_of(setting) != str(value):
            reason = f"{flag} is {user.value_of(setting) or ''} here, but {value} in the flavor's params"
            findings.error(
                "spec.backendRuntimeConfig.args", f"{reason}; remove one of the two", RuleId.FLAGS_CONTRADICTED
            )


def limits_of(flavor: Flavor | None, parallelism: Parallelism) -> dict[str, str | int | float]:
    """Return the limits of a pod of the group."""
    limits = dict(flavor.limits or {}) if flavor else {}
    return {**limits, **(parallelism.per_pod or {})}
