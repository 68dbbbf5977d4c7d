"""Everything that runs the controller in a cluster (WVA spec 6).

The contract's version has no chart. Upstream's kustomize overlay makes the same objects, but for rights that the
controller does not use; see docs/deviations.md.
"""

from ....contract.schema.crds import crd
from ....fleet.objects import Object
from ...family import OperatorSite
from ..kinds import VARIANT_AUTOSCALING
from ..names import NAMESPACE
from .config_maps import settings_map
from .identity import ACCOUNT, labelled
from .pods import budget, deployment
from .reached import metrics_service, network_policy, service_monitor
from .rights import rights


def controller_objects(site: OperatorSite) -> tuple[Object, ...]:
    """Return what is installed, each after what it needs; the namespace comes first."""
    guards = (network_policy(site),) if site.guarded else ()
    return (
        _namespace(),
        crd(VARIANT_AUTOSCALING),
        labelled("v1", "ServiceAccount", ACCOUNT),
        *rights(site),
        settings_map(site.levels.controller),
        *guards,
        metrics_service(),
        deployment(site.levels.controller),
        budget(),
        service_monitor(site),
    )


def _namespace() -> Object:
    """Return the namespace: no pod that asks for more than the controller's do may be in it."""
    modes = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": modes}}
