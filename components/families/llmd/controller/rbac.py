"""The controller's permissions: those that it uses at c0f645c, and nothing else.

It reads through a cache of the whole cluster (sigs.k8s.io/controller-runtime v0.20.4), which lists and watches but
never gets single objects, and cannot be restricted to names or namespaces. Where each permission is used:

    configmaps, nodes, deployments   internal/controller/variantautoscaling_controller.go: SetupWithManager, Reconcile
    variantautoscalings              the same; patched for an owner reference (applyOptimizedAllocations)
    variantautoscalings/status       internal/utils/utils.go: UpdateStatusWithBackoff
    tokenreviews, subjectaccessreviews   access to the metrics: cmd/main.go, WithAuthenticationAndAuthorization
    leases, events                   leader election: cmd/main.go, LeaderElectionID
    pods, servicemonitors, events    from v0.0.5 on: internal/collector/capacity_metrics.go, SetupWithManager
"""

from collections.abc import Sequence

from ....fleet.objects import Object
from ...family import OperatorSite
from ..kinds import VARIANT_AUTOSCALING
from ..names import GROUP, NAMESPACE
from .identity import ACCOUNT, LABELS, PREFIX, namespaced
from .installation import ControllerInstallation

_RBAC = "rbac.authorization.k8s.io"
_LEASE = "72dd1cf1.llm-d.ai"
_MANAGER, _ELECTION, _READER = f"{PREFIX}-manager", f"{PREFIX}-leader-election", f"{PREFIX}-metrics-reader"
_VARIANTS = VARIANT_AUTOSCALING.plural


def rbac_objects(site: OperatorSite, installation: ControllerInstallation) -> tuple[Object, ...]:
    """Return roles and bindings of the controller, and of Prometheus if its namespace is known."""
    account = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    read = ["list", "watch"]
    manager = [
        _rule("", ["configmaps", "nodes"], read),
        _rule("apps", ["deployments"], read),
        _rule(GROUP, [_VARIANTS], [*read, "patch"]),
        _rule(GROUP, [f"{_VARIANTS}/status"], ["update"]),
        _rule("authentication.k8s.io", ["tokenreviews"], ["create"]),
        _rule("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
    ]
    if installation.watches_pods:
        manager += [
            _rule("", ["pods"], read),
            _rule("", ["events"], ["create", "patch"]),
            _rule("monitoring.coreos.com", ["servicemonitors"], read),
        ]
    election = [
        _rule("coordination.k8s.io", ["leases"], ["create"]),
        {**_rule("coordination.k8s.io", ["leases"], ["get", "update"]), "resourceNames": [_LEASE]},
        _rule("", ["events"], ["create", "patch"]),
    ]
    binding: Object = {"roleRef": _reference("Role", _ELECTION), "subjects": [account]}
    reader: tuple[Object, ...] = ()
    if site.scraper:
        # The controller has the API server authorize clients of its metrics.
        subject: Object = {"kind": "ServiceAccount", "name": site.account, "namespace": site.scraper}
        if not site.account:
            subject = {"kind": "Group", "name": f"system:serviceaccounts:{site.scraper}", "apiGroup": _RBAC}
        reader = _cluster_role(_READER, [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}], subject)
    return (
        *_cluster_role(_MANAGER, manager, account),
        namespaced(f"{_RBAC}/v1", "Role", _ELECTION, {"rules": election}),
        namespaced(f"{_RBAC}/v1", "RoleBinding", _ELECTION, binding),
        *reader,
    )


def _cluster_role(name: str, rules: Sequence[Object], subject: Object) -> tuple[Object, Object]:
    metadata = {"name": name, "labels": dict(LABELS)}
    role = {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": list(rules)}
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": _reference("ClusterRole", name),
        "subjects": [subject],
    }
    return role, binding


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _reference(kind: str, name: str) -> Object:
    return {"apiGroup": _RBAC, "kind": kind, "name": name}
