"""The gateway's name, the identity that gets its certificate, and what an account must have."""

import json
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from components.resources.aws.gateway_record import GatewayRecord
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from tests.stacks.reached import dev
from tests.stacks.shipped import run
from tests.stacks.test_web_identity import EXISTING, PROVIDER

pytestmark = pytest.mark.usefixtures("here")

ZONE = "Z0123456789ABCDEFGHIJ"
HOST = "models.example.com"
NLB = "k8s-1-0.elb.us-east-1.amazonaws.com"
NLB_ZONE = "Z26RNL4JYFTOTI"
"""Of Network Load Balancers in us-east-1 (AWS General Reference, "Elastic Load Balancing endpoints")."""
RECORD = "aws:route53/record:Record"
GATEWAY = "kubernetes:gateway.networking.k8s.io/v1:Gateway"
ISSUER = "kubernetes:cert-manager.io/v1:ClusterIssuer"
SPOT = "aws:iam/serviceLinkedRole:ServiceLinkedRole"
TLS = {"kind": "cert-manager", "issuer": "letsencrypt"}
DOOR: dict[str, Any] = {"expose": "gateway", "internal": True, "host": HOST, "allowAnonymous": True, "tls": TLS}
INSTALL = {"install": True}


class Addressed(Aws):
    """AWS with a gateway that has an address."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if args.typ == GATEWAY:
            outputs = {**outputs, "status": {"addresses": [{"type": "Hostname", "value": NLB}]}}
        return id_, outputs


def _ignore(_component: pulumi.ComponentResource) -> None:
    """Programs return nothing."""


def door(**changes: Any) -> Recorded:
    return dev(Addressed(), frontDoor=DOOR, prerequisites=INSTALL, **changes)


class TestRecord:
    def test_the_name_points_at_the_load_balancer(self) -> None:
        graph = door(dns={"hostedZoneId": ZONE})
        (record,) = graph.of(RECORD)
        assert (record.inputs["zoneId"], record.inputs["name"], record.inputs["type"]) == (ZONE, HOST, "A")
        assert record.inputs["aliases"] == [{"name": NLB, "zoneId": NLB_ZONE, "evaluateTargetHealth": False}]
        assert graph.exports["dns"] == {"name": HOST, "address": NLB, "createdHere": True}

    def test_where_the_zone_of_load_balancers_is_unknown_it_is_a_cname(self) -> None:
        args: Any = {"host": HOST, "hosted_zone_id": ZONE, "region": "xx-north-1", "address": NLB}
        (record,) = deploy(lambda: _ignore(GatewayRecord("gateway", args)), mock=Addressed()).of(RECORD)
        assert (record.inputs["type"], record.inputs["records"]) == ("CNAME", [NLB])

    def test_the_gateway_is_waited_for_until_it_has_an_address(self) -> None:
        (gateway,) = door(dns={"hostedZoneId": ZONE}).of(GATEWAY)
        waited = gateway.inputs["metadata"]["annotations"]["pulumi.com/waitFor"]
        assert waited == "jsonpath={.status.addresses[0].value}"
        (gateway,) = door().of(GATEWAY)
        assert "annotations" not in gateway.inputs["metadata"]

    def test_without_a_zone_the_outputs_name_the_record(self) -> None:
        graph = door()
        assert graph.of(RECORD) == []
        assert graph.exports["dns"] == {"name": HOST, "address": NLB, "createdHere": False}
        assert HOST in graph.exports["toProvide"]["dnsRecord"]

    def test_others_may_make_the_record(self) -> None:
        graph = door(dns={"hostedZoneId": ZONE, "record": False})
        assert graph.of(RECORD) == []
        assert "dnsRecord" in graph.exports["toProvide"]
        assert graph["aws:iam/role:Role::identities-cert-manager"]


class TestCertificates:
    def test_cert_manager_may_answer_challenges_for_the_host_alone(self) -> None:
        graph = door(dns={"hostedZoneId": ZONE})
        association = graph["aws:eks/podIdentityAssociation:PodIdentityAssociation::identities-cert-manager"]
        assert (association.inputs["namespace"], association.inputs["serviceAccount"]) == ("cert-manager",) * 2
        document = json.loads(graph["aws:iam/rolePolicy:RolePolicy::identities-cert-manager"].inputs["policy"])
        by_action = {one["Action"][0]: one for one in document["Statement"]}
        assert set(by_action) == {
            "route53:GetChange",
            "route53:ListResourceRecordSets",
            "route53:ChangeResourceRecordSets",
        }
        assert all(len(one["Action"]) == 1 for one in document["Statement"])
        assert by_action["route53:GetChange"]["Resource"] == ["arn:aws:route53:::change/*"]
        changes = by_action["route53:ChangeResourceRecordSets"]
        assert changes["Resource"] == [f"arn:aws:route53:::hostedzone/{ZONE}"]
        assert changes["Condition"]["ForAllValues:StringEquals"] == {
            "route53:ChangeResourceRecordSetsNormalizedRecordNames": [f"_acme-challenge.{HOST}"],
            "route53:ChangeResourceRecordSetsRecordTypes": ["TXT"],
            "route53:ChangeResourceRecordSetsActions": ["UPSERT", "DELETE"],
        }

    def test_cert_manager_comes_after_its_identity(self) -> None:
        graph = door(dns={"hostedZoneId": ZONE})
        chart = graph["inference-platform:index:CertManager::fleet-cert-manager"]
        identities = {"inference-platform:index:Identities::identities"}
        made = {entry.key for entry in graph.graph if entry.parent in identities}
        assert (identities | made) & set(chart.dependencies)

    def test_without_a_zone_it_has_no_role_and_the_outputs_name_what_it_needs(self) -> None:
        graph = door()
        assert not [entry for entry in graph.graph if entry.name == "identities-cert-manager"]
        missing = graph.exports["toProvide"]
        assert f"_acme-challenge.{HOST}" in missing["dnsChallenge"]
        assert "ClusterIssuer letsencrypt" in missing["issuer"]

    def test_the_issuer_is_made_on_request(self) -> None:
        graph = door(dns={"hostedZoneId": ZONE, "acme": {"email": "ops@example.com"}})
        (issuer,) = graph.of(ISSUER)
        assert issuer.inputs["metadata"] == {"name": "letsencrypt"}
        assert issuer.inputs["spec"]["acme"] == {
            "server": "https://acme-v02.api.letsencrypt.org/directory",
            "email": "ops@example.com",
            "privateKeySecretRef": {"name": "letsencrypt-account"},
            "solvers": [
                {
                    "selector": {"dnsNames": [HOST]},
                    "dns01": {"route53": {"region": "us-east-1", "hostedZoneID": ZONE}},
                }
            ],
        }
        assert "toProvide" not in graph.exports
        assert door(dns={"hostedZoneId": ZONE}).of(ISSUER) == []

    def test_without_pod_identity_its_service_account_names_the_role(self) -> None:
        changes: dict[str, Any] = {"frontDoor": DOOR, "prerequisites": INSTALL}
        existing = {**EXISTING, "oidcProviderArn": PROVIDER}
        graph = dev(Addressed(), cluster=existing, dns={"hostedZoneId": ZONE}, **changes)
        release = graph["kubernetes:helm.sh/v3:Release::fleet-cert-manager"]
        annotations = release.inputs["values"]["serviceAccount"]["annotations"]
        assert annotations["eks.amazonaws.com/role-arn"].endswith("identities-cert-manager")
        graph = dev(Addressed(), cluster=existing, **changes)
        assert "serviceAccount" not in graph["kubernetes:helm.sh/v3:Release::fleet-cert-manager"].inputs["values"]


class TestSpotRole:
    @pytest.mark.parametrize("mode", ["create", "existing"])
    def test_karpenter_finds_it_or_it_is_made(self, mode: str) -> None:
        nodes = {"provisioner": "karpenter", "capacity": "spot"}
        cluster = {"version": "1.35", "spotServiceLinkedRole": mode}
        graph = dev(Addressed(), gpuNodes=nodes, cluster=cluster)
        roles = [entry.inputs["awsServiceName"] for entry in graph.of(SPOT)]
        assert roles == (["spot.amazonaws.com"] if mode == "create" else [])
        missing = graph.exports.get("toProvide", {}).get("spotServiceLinkedRole", "")
        assert ("aws iam create-service-linked-role --aws-service-name spot.amazonaws.com" in missing) == (
            mode == "existing"
        )
        for entry in graph.of(SPOT):
            assert entry.registration.retain_on_delete is True

    def test_it_is_asked_for_only_where_karpenter_may_use_spot(self) -> None:
        assert "toProvide" not in dev(Addressed(), gpuNodes={"provisioner": "karpenter"}).exports
        # Of managed groups EC2 Auto Scaling makes it (AutoScalingServiceRolePolicy, EC2SpotManagement).
        assert "toProvide" not in run("dev", Addressed()).exports
        general = {"provisioner": "karpenter", "generalPool": {"capacity": ["on-demand", "spot"], "maxVcpus": 64}}
        assert "spotServiceLinkedRole" in dev(Addressed(), gpuNodes=general).exports["toProvide"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dns": {"hostedZoneId": "example.com"}}, "hostedZoneId"),
        ({"dns": {"record": False}, "frontDoor": DOOR}, "dns: has no effect without hostedZoneId"),
        ({"dns": {"hostedZoneId": ZONE}, "frontDoor": {"expose": "none"}}, "dns: requires a gateway with a name"),
        (
            {"dns": {"hostedZoneId": ZONE, "acme": {}}, "frontDoor": {**DOOR, "tls": {"kind": "none"}}},
            "acme: creates a ClusterIssuer",
        ),
        (
            {
                "dns": {"hostedZoneId": ZONE, "acme": {}},
                "frontDoor": {**DOOR, "tls": {**TLS, "issuerKind": "Issuer"}},
            },
            "acme: creates a ClusterIssuer",
        ),
        ({"cluster": {"version": "1.35", "spotServiceLinkedRole": "create"}}, "create is only for Karpenter"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(pulumi.RunError, match=reason):
        dev(Addressed(), **changes)


def test_a_record_elsewhere_is_refused() -> None:
    args: Any = {"host": "models", "hosted_zone_id": "models", "region": "us-east-1", "address": NLB}
    with pytest.raises(InvalidArguments) as refused:
        deploy(lambda: _ignore(GatewayRecord("gateway", args)), mock=Addressed())
    assert "host: must be a DNS name" in str(refused.value)
    assert "hosted_zone_id: must be the ID" in str(refused.value)
