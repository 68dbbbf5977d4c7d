"""An existing cluster without Pod Identity: every service account names the role that it was given."""

from typing import Any

import pulumi
import pytest

from tests.recorded import Recorded
from tests.stacks.shipped import run

PROVIDER = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/ABCDEF0123456789"
ANNOTATION = "eks.amazonaws.com/role-arn"
EXISTING: dict[str, Any] = {"version": "1.35", "existing": True}

pytestmark = pytest.mark.usefixtures("here")


def existing(stack: str, **cluster: Any) -> Recorded:
    return run(stack, cluster={**EXISTING, **cluster}, modelBuckets=["models"])


def annotated(graph: Recorded) -> set[str]:
    """Return whose service accounts name a role."""
    accounts = {
        "cluster-autoscaler": lambda values: values["rbac"]["serviceAccount"],
        "karpenter": lambda values: values["serviceAccount"],
        "load-balancer-controller": lambda values: values["serviceAccount"],
    }
    charts = {
        name: accounts[name](entry.inputs["values"])
        for entry in graph.of("kubernetes:helm.sh/v3:Release")
        if (name := entry.name.removeprefix("fleet-")) in accounts
    }
    models = {
        f"{entry.inputs['metadata']['namespace']}/{entry.inputs['metadata']['name']}": entry.inputs["metadata"]
        for entry in graph.of("kubernetes:core/v1:ServiceAccount")
    }
    return {name for name, body in {**charts, **models}.items() if ANNOTATION in body.get("annotations", {})}


@pytest.mark.parametrize(
    ("stack", "maker"), [("dev", "cluster-autoscaler"), ("staging", "karpenter"), ("prod", "cluster-autoscaler")]
)
def test_every_service_account_names_its_role(stack: str, maker: str) -> None:
    graph = existing(stack, oidcProviderArn=PROVIDER)
    assert not graph.of("aws:eks/podIdentityAssociation:PodIdentityAssociation")
    assert {maker, "models/model-loader"} <= annotated(graph)
    roles = {entry.name.removeprefix("identities-") for entry in graph.of("aws:iam/role:Role")}
    assert {name.removeprefix("models/") for name in annotated(graph)} <= roles


def test_with_pod_identity_none_does() -> None:
    graph = existing("dev")
    assert graph.of("aws:eks/podIdentityAssociation:PodIdentityAssociation")
    assert annotated(graph) == set()


def test_a_cluster_that_is_created_here_has_pod_identity() -> None:
    with pytest.raises(pulumi.RunError, match="oidcProviderArn: is only for existing clusters without Pod Identity"):
        run("dev", cluster={"version": "1.35", "oidcProviderArn": PROVIDER})
