"""Identities in a program: exact graphs, policies with unknown parts, and arguments that are refused."""

import json
import warnings
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from components.clouds.aws.facts.iam import controllers
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Echo, Recorded, deploy
from workbench.engine.values import UNKNOWN

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # pulumi_aws.ec2 warns of one of its own modules
    from components.resources.aws.args import IdentitiesArgs
    from components.resources.aws.identities import Identities, role_name

IDENTITIES = "inference-platform:index:Identities::ids"
ROLE = "aws:iam/role:Role"
INLINE = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
BASE: IdentitiesArgs = {"cluster_name": "demo", "cluster_plain_name": "demo", "region": "us-east-1"}
NODE_ROLE = "arn:aws:iam::123456789012:role/node"
QUEUE = "arn:aws:sqs:us-east-1:123456789012:demo"
MODELS: dict[str, Any] = {
    "model_buckets": ["models", "more/llama/"],
    "model_service_accounts": ["inference/loader", "research/loader"],
}


class Arns(Echo):
    """Roles have ARNs, as AWS gives them; what another resource is called shows only when it is made."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        if args.typ == ROLE:
            outputs = {**outputs, "arn": f"arn:aws:iam::123456789012:role/{args.inputs['name']}"}
        if args.typ == "test:index:Other":
            id_ = "" if pulumi.runtime.is_dry_run() else QUEUE
        return id_, outputs


def identities(*, preview: bool = False, **args: Any) -> Recorded:
    def run() -> None:
        made = Identities("ids", {**BASE, **args})  # type: ignore[typeddict-item]
        pulumi.export("roles", made.role_arns)
        pulumi.export("associations", {key: len(all_) for key, all_ in made.associations.items()})

    return deploy(run, preview=preview, mock=Arns())


NAMED: dict[str, Any] = {"hosted_zone_id": "Z0123456789ABCDEFGHIJ", "host": "models.example.com"}


def karpenter(**args: Any) -> dict[str, Any]:
    return {"controllers": ["karpenter"], "node_role_arn": NODE_ROLE, "interruption_queue_arn": QUEUE, **args}


def refused(**args: Any) -> dict[str, list[str]]:
    with pytest.raises(InvalidArguments) as raised:
        identities(**args)
    found: dict[str, list[str]] = {}
    for error in raised.value.errors or []:
        found.setdefault(error["property_path"], []).append(error["reason"])
    return found


def trusted(recorded: Recorded, name: str) -> list[dict[str, Any]]:
    document = json.loads(recorded[f"{ROLE}::{name}"].inputs["assumeRolePolicy"])
    assert {one["Principal"]["Service"] for one in document["Statement"]} == {"pods.eks.amazonaws.com"}
    return [one["Condition"]["StringEquals"] for one in document["Statement"]]


@pytest.mark.parametrize("preview", [False, True])
def test_each_controller_is_a_role_a_policy_and_an_association(preview: bool) -> None:
    recorded = identities(**karpenter(controllers=list(controllers()), **NAMED), preview=preview)
    expected: dict[str, set[str]] = {IDENTITIES: set()}
    for key, one in controllers().items():
        policy = f"{ATTACHMENT if one.managed else INLINE}::ids-{key}"
        expected |= {
            f"{ROLE}::ids-{key}": set(),
            policy: {f"{ROLE}::ids-{key}"},
            f"{ASSOCIATION}::ids-{key}": {f"{ROLE}::ids-{key}", policy},
        }
    assert {entry.key: set(entry.dependencies) for entry in recorded.graph} == expected
    assert {entry.parent for entry in recorded.graph if entry.key != IDENTITIES} == {IDENTITIES}
    assert len(recorded.graph) == 1 + 3 * 6


def test_cert_manager_needs_to_know_zone_and_name() -> None:
    found = refused(controllers=["cert-manager"], hosted_zone_id="example.com")
    assert set(found) == {"hosted_zone_id", "host"}
    assert "such as Z3M3LMPEXAMPLE, found 'example.com'" in found["hosted_zone_id"][0]
    assert identities(controllers=["cert-manager"], **NAMED)


def test_the_association_binds_the_role_to_the_service_account() -> None:
    recorded = identities(controllers=["load-balancer-controller"])
    inputs = dict(recorded[f"{ASSOCIATION}::ids-load-balancer-controller"].inputs)
    assert inputs == {
        "clusterName": "demo",
        "namespace": "kube-system",
        "serviceAccount": "aws-load-balancer-controller",
        "roleArn": "arn:aws:iam::123456789012:role/demo-us-east-1-load-balancer-controller",
        "tags": {"Name": "ids-load-balancer-controller"},
    }


def test_only_that_service_account_of_that_cluster_gets_the_role() -> None:
    assert trusted(identities(controllers=["cluster-autoscaler"]), "ids-cluster-autoscaler") == [
        {
            "aws:RequestTag/eks-cluster-name": "demo",
            "aws:RequestTag/kubernetes-namespace": "kube-system",
            "aws:RequestTag/kubernetes-service-account": ["cluster-autoscaler"],
        }
    ]


@pytest.mark.parametrize(
    ("region", "arn"),
    [
        ("us-east-1", "arn:aws:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"),
        ("cn-north-1", "arn:aws-cn:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"),
        ("us-gov-west-1", "arn:aws-us-gov:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"),
    ],
)
def test_drivers_have_the_policies_that_aws_manages(region: str, arn: str) -> None:
    recorded = identities(controllers=["ebs-csi"], region=region)
    assert recorded[f"{ATTACHMENT}::ids-ebs-csi"].inputs["policyArn"] == arn
    assert not recorded.of(INLINE)


def test_the_policy_is_that_of_the_catalog_for_this_cluster() -> None:
    recorded = identities(controllers=["cluster-autoscaler"])
    text = recorded[f"{INLINE}::ids-cluster-autoscaler"].inputs["policy"]
    assert '"aws:ResourceTag/k8s.io/cluster-autoscaler/demo": "owned"' in text
    assert "nodegroup/demo/" in text
    assert "${" not in text


def test_karpenter_gets_this_node_role_and_this_queue() -> None:
    document = json.loads(identities(**karpenter())[f"{INLINE}::ids-karpenter"].inputs["policy"])
    by_sid = {one["Sid"]: one["Resource"] for one in document["Statement"]}
    assert by_sid["PassTheNodeRole"] == [NODE_ROLE]
    assert by_sid["TakeInterruptions"] == [QUEUE]


@pytest.mark.parametrize("preview", [False, True])
def test_parts_may_be_outputs_of_what_does_not_exist_yet(preview: bool) -> None:
    def run() -> None:
        other = pulumi.CustomResource("test:index:Other", "other", {})
        args = karpenter(interruption_queue_arn=other.id, cluster_name=other.id)
        Identities("ids", {**BASE, **args})  # type: ignore[typeddict-item]

    recorded = deploy(run, preview=preview, mock=Arns())
    policy, association = recorded[f"{INLINE}::ids-karpenter"], recorded[f"{ASSOCIATION}::ids-karpenter"]
    other = "test:index:Other::other"
    assert other in policy.dependencies
    assert other in association.dependencies
    assert other not in recorded[f"{ROLE}::ids-karpenter"].dependencies
    assert len(recorded.graph) == 5
    if preview:
        assert (policy.inputs["policy"], association.inputs["clusterName"]) == (UNKNOWN, UNKNOWN)
    else:
        assert QUEUE in policy.inputs["policy"]


@pytest.mark.parametrize("preview", [False, True])
def test_the_model_loader_is_one_role_for_its_service_accounts(preview: bool) -> None:
    recorded = identities(**MODELS, preview=preview)
    role, policy = f"{ROLE}::ids-model-loader", f"{INLINE}::ids-model-loader"
    assert {entry.key: set(entry.dependencies) for entry in recorded.graph} == {
        IDENTITIES: set(),
        role: set(),
        policy: {role},
        f"{ASSOCIATION}::ids-model-loader-inference.loader": {role, policy},
        f"{ASSOCIATION}::ids-model-loader-research.loader": {role, policy},
    }
    assert [one["aws:RequestTag/kubernetes-namespace"] for one in trusted(recorded, "ids-model-loader")] == [
        *("inference", "research"),
    ]
    statements = json.loads(recorded[policy].inputs["policy"])["Statement"]
    assert {action for one in statements for action in one["Action"]} == {"s3:ListBucket", "s3:GetObject"}
    assert {resource for one in statements for resource in one["Resource"]} == {
        *("arn:aws:s3:::models", "arn:aws:s3:::models/*", "arn:aws:s3:::more", "arn:aws:s3:::more/llama/*"),
    }


def test_roles_and_associations_are_tagged_and_named() -> None:
    recorded = identities(controllers=["ebs-csi"], tags={"team": "ml"}, **MODELS)
    for entry in recorded.graph:
        if entry.type in (ROLE, ASSOCIATION):
            assert entry.inputs["tags"] == {"team": "ml", "Name": entry.inputs.get("name", entry.name)}, entry.key
        else:
            assert "tags" not in entry.inputs, entry.key


@pytest.mark.parametrize("preview", [False, True])
def test_outputs_are_the_roles(preview: bool) -> None:
    recorded = identities(controllers=["ebs-csi"], **MODELS, preview=preview)
    assert recorded.exports == {
        "roles": {
            "ebs-csi": "arn:aws:iam::123456789012:role/demo-us-east-1-ebs-csi",
            "model-loader": "arn:aws:iam::123456789012:role/demo-us-east-1-model-loader",
        },
        "associations": {"ebs-csi": 1, "model-loader": 2},
    }


def test_nothing_asked_for_is_nothing_made() -> None:
    recorded = identities()
    assert [entry.key for entry in recorded.graph] == [IDENTITIES]
    assert recorded.exports == {"roles": {}, "associations": {}}


@pytest.mark.parametrize("cluster", ["d" * 30, "d" * 49, "d" * 50, "d" * 100])
def test_role_names_fit_and_stay_distinct(cluster: str) -> None:
    names = {role_name(cluster, region, key) for region in ("us-east-1", "us-east-2") for key in controllers()}
    assert len(names) == 2 * len(controllers())
    assert all(len(name) <= 64 for name in names)


def test_role_names_are_stable() -> None:
    assert role_name("demo", "us-east-1", "karpenter") == "demo-us-east-1-karpenter"
    assert role_name("d" * 45, "us-east-1", "karpenter") == f"{'d' * 45}-us-east-1-57b38b73"


def test_all_problems_are_reported_at_once() -> None:
    found = refused(
        cluster_name="other",
        region="nowhere",
        controllers=["karpenter", "karpenter", "argo"],
        model_buckets=["s3://models"],
        model_service_accounts=["loader", "kube-system/karpenter"],
    )
    assert {path: len(reasons) for path, reasons in found.items()} == {
        "region": 1,
        "cluster_name": 1,
        "controllers": 2,
        "node_role_arn": 1,
        "interruption_queue_arn": 1,
        "model_buckets": 1,
        "model_service_accounts": 2,
    }
    assert any("cluster-autoscaler, karpenter, load-balancer-controller" in one for one in found["controllers"])


def test_a_cluster_needs_both_its_names() -> None:
    def run() -> None:
        Identities("ids", {"region": "us-east-1"})  # type: ignore[typeddict-item]

    with pytest.raises(InvalidArguments) as raised:
        deploy(run)
    assert {error["property_path"] for error in raised.value.errors or []} == {"cluster_plain_name", "cluster_name"}


@pytest.mark.parametrize(
    ("given", "missing"), [("model_buckets", "model_service_accounts"), ("model_service_accounts", "model_buckets")]
)
def test_models_need_a_place_and_a_reader(given: str, missing: str) -> None:
    assert list(refused(**{given: MODELS[given]})) == [missing]


@pytest.mark.parametrize("account", ["loader", "/loader", "Inference/loader", "inference/", "a/b/c", "inference/*"])
def test_service_accounts_are_kubernetes_names(account: str) -> None:
    found = refused(model_buckets=["models"], model_service_accounts=[account])
    assert repr(account) in found["model_service_accounts"][0]


def test_a_trust_policy_that_iam_would_refuse_is_refused_here() -> None:
    many = [f"team-{index}/loader" for index in range(8)]
    found = refused(model_buckets=["models"], model_service_accounts=many)
    assert "2048" in found["model_service_accounts"][0]
    assert identities(model_buckets=["models"], model_service_accounts=many[:6]).of(ASSOCIATION)
