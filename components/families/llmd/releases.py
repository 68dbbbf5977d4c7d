"""What the controller of each release does with a VariantAutoscaling.

Sources, at the tags of releases.yaml: internal/constants/metrics.go (signal, series of the engine),
internal/controller/variantautoscaling_controller.go and internal/engines/saturation/engine.go (what it decides by),
internal/utils/scaletarget (kinds of workloads).
"""

from dataclasses import dataclass

from ...contract.kinds import Kind
from ...contract.load import LoadedResource
from ...contract.releases import Span
from .kinds import RELEASES
from .types import DEFAULT_BOUNDS, VariantAutoscaling

_MODELS = Span(until="v0.0.4")
_BY_NAME = Span(until="v0.4.2")
_ONLY_DEPLOYMENTS = Span(until="v0.5.1")
_LABELED = Span(until="v0.5.1")
_BOUNDED = Span(since="v0.6.0")

_MODEL_SERIES = (
    "vllm:request_success_total",
    "vllm:request_generation_tokens_sum",
    "vllm:request_generation_tokens_count",
)
_SATURATION_SERIES = ("vllm:kv_cache_usage_perc", "vllm:num_requests_waiting")


@dataclass(frozen=True, slots=True)
class ControllerRelease:
    """The behavior of the controller of one release.

    Attributes:
        release: The release that a manifest is read in, or the contract's.
        computes_size: Whether it sizes variants by their profiles and service classes. Later ones add a replica of
            the cheapest variant when the engines' caches or queues fill up, unless an experimental setting is on.
        reads_maps: Whether it reads the ConfigMaps of prices and service classes, if only with an experimental
            setting.
        keys_by_name: Whether it keeps its results by the name of a variant alone, without the namespace.
        signal: The metric with the number of replicas that autoscalers follow.
        only_deployments: Whether it scales nothing but Deployments; otherwise LeaderWorkerSets too.
        needs_label: Whether it skips a variant without the label with its accelerator.
        escapes: Whether it escapes the name of a model in its queries.
        series: Series of the engine that it reads; it skips a variant without one of them.
    """

    release: str
    computes_size: bool
    reads_maps: bool
    keys_by_name: bool
    signal: str
    only_deployments: bool
    needs_label: bool
    escapes: bool
    series: tuple[str, ...]

    @property
    def title(self) -> str:
        return RELEASES.title(self.release)


def controller_of(kind: Kind) -> ControllerRelease:
    """Return the controller of the release that a kind is read in, or the contract's."""
    release = kind.release or RELEASES.contract

    def is_in(span: Span) -> bool:
        return RELEASES.covers(span, release)

    computes_size = is_in(_MODELS)
    return ControllerRelease(
        release=release,
        computes_size=computes_size,
        reads_maps=is_in(_BY_NAME),  # the model-based optimizer is part of the releases up to v0.4.2
        keys_by_name=is_in(_BY_NAME),
        signal="inferno_desired_replicas" if is_in(_BY_NAME) else "wva_desired_replicas",
        only_deployments=is_in(_ONLY_DEPLOYMENTS),
        needs_label=is_in(_LABELED),
        escapes=not is_in(_BY_NAME),  # EscapePromQLValue since v0.5.0; v0.0.5 to v0.4.2 escape in some queries only
        series=_MODEL_SERIES if computes_size else _SATURATION_SERIES,
    )


def bounds_of(source: LoadedResource) -> tuple[int, int] | None:
    """Return the bounds of the replicas that a VariantAutoscaling sets; None in the releases without them.

    Without a declared release, either bound tells that the manifest is for a release with them.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  callers chose this function by kind
    least, most, release = resource.spec.min_replicas, resource.spec.max_replicas, source.kind.release
    has_bounds = bool(release) and RELEASES.covers(_BOUNDED, release)
    if least is None and most is None and not has_bounds:
        return None
    return (DEFAULT_BOUNDS[0] if least is None else least, DEFAULT_BOUNDS[1] if most is None else most)
