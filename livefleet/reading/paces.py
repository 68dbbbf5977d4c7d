"""Estimate how fast replicas are on each instance type that they may run on, and how long they take to start."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from components.checks.memory.cases import Fit, MemoryVerdict
from components.checks.memory.shapes import Shape
from components.checks.memory.weights import weights_of
from components.contract.quantity import GIB
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
from components.plan.starts.estimate import start_estimate

from ..fleet import Startup, TokenPace
from ..pace.estimates import pace_of, profiled

if TYPE_CHECKING:
    from components.performance.sizing.cases import ModelVariant, Profile
    from components.plan.plan import Plan

_USUAL_WEIGHTS = 16 * 2**30
"""Bytes of the weights of a model with 8 billion parameters; used if the size is unknown."""
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

    behavior: ServerBehavior
    paces: Mapping[str, TokenPace]
    startup: Startup
    context: int | None
    images: bool | None = None
    dimensions: int | None = None


def speeds_of(planned: "Plan") -> dict[str, Speed]:
    """Return how each workload serves requests, by its namespace and name."""
    verdicts = {name: result.verdict for result in planned.verdicts for name in result.names}
    measured = _measured(planned)
    speeds = {}
    for _, workload in planned.fleet.workloads:
        key = f"{workload.namespace}/{workload.name}"
        verdict = verdicts.get(f"{workload.kind} {key}", _UNKNOWN)
        speeds[key] = _speed(workload, verdict, _shape(workload, verdict, planned), measured.get(key))
    return speeds


def _speed(workload: Workload, verdict: MemoryVerdict, shape: Shape | None, variant: "ModelVariant | None") -> Speed:
    line = workload.server.line
    behavior, settings = server_behavior(workload.container, line), memory_settings_of(line)
    cpus = float(sum((demand.requests.get("cpu", Decimal(0)) for demand in workload.pods[:1]), Decimal(0))) or None
    choices = [choice for demand in workload.pods for choice in demand.choices]
    types = [name for choice in choices for name in (choice.instance_type, *choice.alternatives) if name]
    paces = {}
    for instance_type in dict.fromkeys(("", *types)):
        pace = pace_of(verdict, instance_type, shape, cpus)
        node = instance(instance_type)
        device = None
        if node and node.accelerator_memory_gib is not None:
            device = Device(node.accelerator, int(node.accelerator_memory_gib * GIB))
        # Without a flag, the limit of some engines depends on the accelerator.
        limit = concurrency_limit(workload.container, line, device).limit
        pace = replace(pace, batch=limit or pace.batch)
        profile = _profile(variant, instance_type)
        paces[instance_type] = profiled(profile.within(limit), pace) if profile else pace
    weights = weights_of(shape, verdict.asked.weights_dtype if verdict.asked else "") if shape else ""
    embedder = None
    if behavior.embeds:
        loaded = settings.model if isinstance(settings, MemorySettings) else ""
        embedder = known_embedder(behavior.model or loaded or workload.model)
    # The first known context: of the server's behavior, the memory verdict, the command line, the model.
    context = behavior.context or (verdict.context if verdict.asked else None)
    context = context or (settings.limits.context if isinstance(settings, MemorySettings) else None)
    context = context or (shape.max_context if shape else None) or (embedder.tokens if embedder else None)
    return Speed(
        behavior,
        paces,
        startup_of(workload.body, None if isinstance(weights, str) else weights.total),
        context,
        images=behavior.images if behavior.images is not None else shape.images if shape else None,
        dimensions=embedder.dimensions if embedder else shape.hidden if shape else None,
    )


def _shape(workload: Workload, verdict: MemoryVerdict, planned: "Plan") -> Shape | None:
    """Return the model's shape, even if it runs without accelerators; None if it is unknown."""
    if verdict.asked:
        return verdict.asked.shape
    line = workload.server.line
    settings, table = memory_settings_of(line), memory_settings_table(line.engine)
    model = settings.model if isinstance(settings, MemorySettings) else workload.model
    shape = planned.environment.shapes.find(
        model, workload.server.weights, single_file=table is not None and table.single_files
    )
    return None if isinstance(shape, str) else shape


def _measured(planned: "Plan") -> dict[str, "ModelVariant"]:
    """Return the variants with measured profiles, by the workload that they scale."""
    by_workload: dict[str, ModelVariant] = {}
    for item, scaler in planned.fleet.autoscalers:
        # Autoscalers that are manifests of their own are of no family, and describe no variant.
        for variant in variants([] if scaler.is_written else [item.source]):
            _, namespace, name = scaler.target
            by_workload[f"{namespace}/{name}"] = variant
    return by_workload


def _profile(variant: "ModelVariant | None", instance_type: str) -> "Profile | None":
    """Return the profile of a variant on an instance type; for the empty name, that of its own accelerator."""
    if variant is None:
        return None
    own = [profile for profile in variant.profiles if profile.accelerator == variant.accelerator]
    if not instance_type:
        return next(iter(own), None)
    node = instance(instance_type)
    for profile in (*own, *variant.profiles):
        accelerator = known_accelerator(profile.accelerator)
        if node is not None and accelerator is not None and accelerator.is_on(node):
            return profile
    return None


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


def startup_of(body: Object, weights: int | None) -> Startup:
    """Return how long a replica of a workload takes to start.

    Args:
        body: The workload.
        weights: Size of the weights in bytes; None if unknown.
    """
    size = _USUAL_WEIGHTS if weights is None else weights
    # Pulling the image counts as the pod's time, since the nodes of the live fleet are new.
    pod, pod_on_new_node = (
        sum(seconds for _, seconds in start_estimate(body, size, new_node=new_node, new_image=True).parts)
        for new_node in (False, True)
    )
    return Startup(pod=float(pod), node=float(pod_on_new_node - pod))
