"""What the controller may do: what it does at c0f645c, and nothing else.

It reads through a cache of the whole cluster (sigs.k8s.io/controller-runtime v0.20.4), which lists and watches, and
gets nothing one by one; names and namespaces cannot be given for that. Where each right is used:

    configmaps, nodes, deployments   internal/controller/variantautoscaling_controller.go: SetupWithManager, Reconcile
    variantautoscalings              the same; patched for an owner reference (applyOptimizedAllocations)
    variantautoscalings/status       internal/utils/utils.go: UpdateStatusWithBackoff
    tokenreviews, subjectaccessreviews   who may read the metrics: cmd/main.go, WithAuthenticationAndAuthorization
    leases, events                   leader election: cmd/main.go, LeaderElectionID
"""

from collections.abc import Sequence

from ....fleet.objects import Object
from ...family import OperatorSite
from ..kinds import VARIANT_AUTOSCALING
from ..names import GROUP, NAMESPACE
from .identity import ACCOUNT, LABELS, PREFIX, labelled

_RBAC = "rbac.authorization.k8s.io"
_LEASE = "72dd1cf1.llm-d.ai"
_MANAGER, _ELECTION, _READER = f"{PREFIX}-manager", f"{PREFIX}-leader-election", f"{PREFIX}-metrics-reader"
_VARIANTS = VARIANT_AUTOSCALING.plural


def rights(site: OperatorSite) -> tuple[Object, ...]:
    """Return roles and bindings: of the controller, and of Prometheus as far as it is known."""
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
    election = [
        _rule("coordination.k8s.io", ["leases"], ["create"]),
        {**_rule("coordination.k8s.io", ["leases"], ["get", "update"]), "resourceNames": [_LEASE]},
        _rule("", ["events"], ["create", "patch"]),
    ]
    bound: Object = {"roleRef": _reference("Role", _ELECTION), "subjects": [account]}
    return (
        *_cluster_wide(_MANAGER, manager, account),
        labelled(f"{_RBAC}/v1", "Role", _ELECTION, {"rules": election}),
        labelled(f"{_RBAC}/v1", "RoleBinding", _ELECTION, bound),
        *_of_prometheus(site),
    )


def _of_prometheus(site: OperatorSite) -> tuple[Object, ...]:
    """Return the right to read the metrics: the controller asks the API server whether who scrapes has it."""
    if not site.scraper:
        return ()
    who: Object = {"kind": "ServiceAccount", "name": site.account, "namespace": site.scraper}
    if not site.account:
        who = {"kind": "Group", "name": f"system:serviceaccounts:{site.scraper}", "apiGroup": _RBAC}
    return _cluster_wide(_READER, [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}], who)


def _cluster_wide(name: str, rules: Sequence[Object], who: Object) -> tuple[Object, Object]:
    metadata = {"name": name, "labels": dict(LABELS)}
    role = {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": list(rules)}
    binding = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": _reference("ClusterRole", name),
        "subjects": [who],
    }
    return role, binding


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Object:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _reference(kind: str, name: str) -> Object:
    return {"apiGroup": _RBAC, "kind": kind, "name": name}
