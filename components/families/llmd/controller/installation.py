"""What differs between releases of the controller where it is installed by objects of our own.

Sources, at the tags of releases.yaml: config/manager/{manager,kustomization}.yaml (image, environment),
config/rbac/role.yaml (permissions), .github/workflows (registry of the images), cmd/main.go, internal/controller.
"""

from dataclasses import dataclass

from ....contract.releases import Span
from ..kinds import RELEASES
from ..names import SETTINGS

_INCUBATION = "ghcr.io/llm-d-incubation/workload-variant-autoscaler"
_IMAGES = {
    # Default of upstream's Makefile; no digest is published for it.
    "c0f645c": "quay.io/infernoautoscaler/inferno-controller:0.0.1-multi-arch",
    "v0.0.5": "ghcr.io/llm-d/workload-variant-autoscaler:v0.0.5",
    "v0.4.1": f"{_INCUBATION}:v0.4.1",
    "v0.4.2": f"{_INCUBATION}:v0.4.2",
}
_COMPILED_NAMESPACE = Span("v0.0.1", "v0.0.4")
_NEEDS_POOLS = Span("v0.5.0", "4bbb15fa")
_LATER_SETTINGS = "workload-variant-autoscaler-variantautoscaling-config"


@dataclass(frozen=True, slots=True)
class ControllerInstallation:
    """The objects of one release, where they differ.

    Attributes:
        image: The controller's image.
        settings: Name of the ConfigMap with its settings, which is compiled in.
        watches_pods: Whether it reads pods and its own ServiceMonitor, and writes events, besides what all releases
            do. Those that do take their namespace from a variable.
    """

    image: str
    settings: str
    watches_pods: bool


def installation_of(release: str) -> ControllerInstallation:
    """Return how a release is installed; empty for the contract's.

    Raises:
        KeyError: it cannot be installed (:func:`uninstallable`).
    """
    release = release or RELEASES.contract
    is_first = release == RELEASES.contract
    return ControllerInstallation(
        _IMAGES[release], SETTINGS if is_first else _LATER_SETTINGS, watches_pods=not is_first
    )


def uninstallable(release: str) -> str:
    """Return why the controller of a release cannot be installed by objects of our own; empty if it can."""
    if not release or release in _IMAGES:
        return ""
    title, instead = RELEASES.title(release), "install it as its project describes, and list wva under present"
    if RELEASES.covers(_COMPILED_NAMESPACE, release):
        return (
            f"{title} reads its ConfigMaps from the namespace workload-variant-autoscaler-system alone, which is "
            "compiled in, but the controller is installed in another one; set v0.0.5, v0.4.1 or v0.4.2, or "
            f"{instead}"
        )
    if RELEASES.covers(_NEEDS_POOLS, release):
        return (
            f"{title} ends at its start without the kind InferencePool of the Gateway API Inference Extension, which "
            f"no prerequisite brings; {instead}, or set v0.4.2 or an earlier release"
        )
    return (
        f"{title} has no kind VariantAutoscaling, and its controller is not installed here; {instead}: it finds "
        "HorizontalPodAutoscalers and ScaledObjects by their annotations"
    )
