"""Estimate how fast replicas are on each instance type that they may run on, and how long they take to start."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from components.checks.memory.cases import Fit, MemoryVerdict
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import weights_of
from components.contract.tables import load_table
from components.engines.memory.rows import Device
from components.engines.memory_settings.reader import MemorySettings, memory_settings_of
from components.engines.memory_settings.table import memory_settings_table
from components.engines.served.behavior import ServerBehavior, concurrency_limit, server_behavior
from components.families import variants
from components.fleet.instances import instance
from components.fleet.objects import Object
from components.fleet.workloads import Workload
from components.performance.sizing.accelerators import known_accelerator
from components.plan.review.starts import start_estimate

from ..fleet import Startup, TokenPace
from ..pace.estimates import pace_of, profiled

if TYPE_CHECKING:
    from components.performance.sizing.cases import ModelVariant, Profile
    from components.plan.plan import Plan

_GIB = 2**30
_UNKNOWN = MemoryVerdict(Fit.UNKNOWN, "nothing is known of it")


@dataclass(frozen=True, slots=True)
class Speed:
    """How a workload serves requests.

    Attributes:
        paces: By instance type; the empty name stands for all others.
        context: Maximum tokens of a request with its answer; None if unknown.
        images: Whether the model reads images; None if unknown.
        dimensions: Length of an embedding; None if unknown.
    """

    answering: ServerBehavior
    paces: Mapping[str, TokenPace]
    startup: Startup
    context: int | None
    images: bool | None = None
    dimensions: int | None = None


def speeds_of(planned: "Plan") -> dict[str, Speed]:
    """Return how each workload serves requests, by its namespace and name."""
    verdicts = {name: each.verdict for each in planned.verdicts for name in each.names}
    measured = _measured(planned)
    speeds = {}
    for _, workload in planned.fleet.workloads:
        place = f"{workload.namespace}/{workload.name}"
        verdict = verdicts.get(f"{workload.kind} {place}", _UNKNOWN)
        speeds[place] = _speed(workload, verdict, _shape(workload, verdict, planned), measured.get(place))
    return speeds


def _speed(each: Workload, verdict: MemoryVerdict, shape: Shape | None, variant: "ModelVariant | None") -> Speed:
    answering = server_behavior(each.container, each.server.line)
    cpus = float(sum((demand.requests.get("cpu", Decimal(0)) for demand in each.pods[:1]), Decimal(0))) or None
    paces = {}
    for name in ("", *_types(each)):
        pace = pace_of(verdict, name, shape, cpus)
        limit = concurrency_limit(each.container, each.server.line, _device(name))
        pace = replace(pace, batch=limit.limit or pace.batch)
        profile = _profile(variant, name)
        paces[name] = profiled(profile.within(limit.limit), pace) if profile else pace
    weights = weights_of(shape, verdict.asked.weights_dtype if verdict.asked else "") if shape else ""
    embedder = known_embedder(_model(each, answering)) if answering.embeds else None
    return Speed(
        answering,
        paces,
        startup_of(each.body, None if isinstance(weights, str) else weights.total),
        answering.context or _context(each, verdict, shape) or (embedder.tokens if embedder else None),
        images=answering.images if answering.images is not None else shape.images if shape else None,
        dimensions=embedder.dimensions if embedder else shape.hidden if shape else None,
    )


def _model(each: Workload, answering: ServerBehavior) -> str:
    """Return the model that a server's command line loads, else the name of the model."""
    settings = memory_settings_of(each.server.line)
    return answering.model or (settings.model if isinstance(settings, MemorySettings) else "") or each.model


def _types(each: Workload) -> list[str]:
    """Return the instance types that its pods may run on, in order of preference."""
    choices = (choice for demand in each.pods for choice in demand.choices)
    names = (name for choice in choices for name in (choice.instance_type, *choice.alternatives))
    return list(dict.fromkeys(name for name in names if name))


def _shape(each: Workload, verdict: MemoryVerdict, planned: "Plan") -> Shape | None:
    """Return the model's shape, even if it runs without accelerators; None if it is unknown."""
    if verdict.asked:
        return verdict.asked.shape
    line = each.server.line
    settings, table = memory_settings_of(line), memory_settings_table(line.engine)
    model = settings.model if isinstance(settings, MemorySettings) else each.model
    shape = planned.environment.shapes.find(
        model, each.server.weights, single_file=table is not None and table.single_files
    )
    return None if isinstance(shape, str) else shape


def _device(instance_type: str) -> Device | None:
    """Return the accelerator of an instance type; the defaults of engines may depend on it."""
    node = instance(instance_type)
    if node is None or node.accelerator_memory_gib is None:
        return None
    return Device(node.accelerator, int(node.accelerator_memory_gib * _GIB))


def _context(each: Workload, verdict: MemoryVerdict, shape: Shape | None) -> int | None:
    """Return the context: that of the memory verdict, else of the command line, else of the model."""
    if verdict.asked and verdict.context:
        return verdict.context
    settings = memory_settings_of(each.server.line)
    configured = settings.limits.context if isinstance(settings, MemorySettings) else None
    return configured or (shape.max_context if shape else None)


def _measured(planned: "Plan") -> dict[str, "ModelVariant"]:
    """Return the variants with measured profiles, by the workload that they scale."""
    by_workload: dict[str, ModelVariant] = {}
    for item, scaler in planned.fleet.autoscalers:
        for variant in variants([item.source]):
            _, namespace, name = scaler.target
            by_workload[f"{namespace}/{name}"] = variant
    return by_workload


def _profile(variant: "ModelVariant | None", instance_type: str) -> "Profile | None":
    """Return the profile of a variant on an instance type; for the empty name, that of its own accelerator."""
    if variant is None:
        return None
    own = [each for each in variant.profiles if each.accelerator == variant.accelerator]
    if not instance_type:
        return next(iter(own), None)
    return next((each for each in (*own, *variant.profiles) if _is_on(each, instance_type)), None)


def _is_on(profile: "Profile", instance_type: str) -> bool:
    node, known = instance(instance_type), known_accelerator(profile.accelerator)
    return node is not None and known is not None and known.is_on(node)


@dataclass(frozen=True, slots=True)
class Embedder:
    """An embedding model.

    Attributes:
        dimensions: Length of a vector.
        tokens: Maximum tokens of an input.
    """

    dimensions: int
    tokens: int


def known_embedder(model: str) -> Embedder | None:
    """Return an embedding model by its repository, ignoring case; None if it is unknown."""
    return _embedders().get(model.lower())


@functools.cache
def _embedders() -> Mapping[str, Embedder]:
    rows = load_table(__package__, "embedders.yaml")["models"]
    return {str(row["model"]).lower(): Embedder(row["dimensions"], row["tokens"]) for row in rows}


_USUAL_WEIGHTS = 16 * 2**30
"""Bytes of the weights of a model with 8 billion parameters; used if the size is unknown."""


def startup_of(body: Object, weights: int | None) -> Startup:
    """Return how long a replica of a workload takes to start.

    Args:
        body: The workload.
        weights: Size of the weights in bytes; None if unknown.
    """
    size = _USUAL_WEIGHTS if weights is None else weights
    # Pulling the image counts as the pod's time, since the nodes of the live fleet are new.
    pod, whole = (
        sum(seconds for _, seconds in start_estimate(body, size, new_node=new, new_image=True).parts)
        for new in (False, True)
    )
    return Startup(pod=float(pod), node=float(whole - pod))
