"""The policies: who may do what, on what, and what is refused while they are filled in."""

import json
import re

import pytest
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.policy_validation import IAMPolicyDocumentValidator

from components.clouds.aws.facts.iam import (
    INLINE_MAX,
    controllers,
    location_problem,
    model_loader,
    placeholders,
    pod_identity_trust,
    policies,
    policy,
)
from tests.clouds.aws.facts.statements import BALANCED, OWNED, READS, VALUES, actions, filled, granting, statements
from tests.clouds.aws.models.authorization import document_problems, known_actions


def test_these_are_all_policies() -> None:
    assert set(policies()) == {
        "cert-manager-dns01",
        "cluster-autoscaler",
        "karpenter-controller",
        "load-balancer-controller",
        "model-loader-bucket",
        "model-loader-prefix",
        "volume-key",
    }
    assert all(one.source for one in policies().values())


@pytest.mark.parametrize("name", policies())
def test_iam_would_read_it(name: str) -> None:
    document = filled(name)
    IAMPolicyDocumentValidator(json.dumps(document)).validate()
    sids = [one["Sid"] for one in document["Statement"] if "Sid" in one]
    assert len(sids) == len(set(sids))
    assert all(re.fullmatch("[A-Za-z0-9]+", sid) for sid in sids)
    assert "${" not in json.dumps(document)


@pytest.mark.parametrize("name", policies())
def test_it_fits_into_a_role_whatever_the_cluster_is_called(name: str) -> None:
    longest = {**VALUES, "cluster": "c" * 100, "region": "ap-southeast-2", "partition": "aws-us-gov"}
    longest |= {"bucket": "b" * 63, "prefix": "p" * 200}
    document = policy(name, **{key: longest[key] for key in placeholders(name)})
    assert len(json.dumps(document, separators=(",", ":"))) < INLINE_MAX


@pytest.mark.parametrize("name", policies())
def test_only_reads_are_on_everything_without_condition(name: str) -> None:
    """But for what is on no single resource."""
    for granted, resources, conditions in statements(name):
        if "*" in resources and not conditions:
            assert not {a for a in granted if not READS.fullmatch(a) and known_actions()[a].types}


@pytest.mark.parametrize("name", policies())
def test_no_action_is_a_wildcard_and_none_is_listed_twice(name: str) -> None:
    assert not any("*" in action for action in actions(name))
    for one in filled(name)["Statement"]:
        assert len(one["Action"]) == len(set(one["Action"]))


@pytest.mark.parametrize("name", policies())
def test_it_grants_what_it_says(name: str) -> None:
    """IAM takes a misspelt action, a resource that an action is not on and an unknown key without a word."""
    assert list(document_problems(filled(name))) == []


def test_load_balancers_are_made_with_the_clusters_tag() -> None:
    for what in ("LoadBalancer", "TargetGroup", "Listener", "Rule"):
        ((_, conditions),) = granting("load-balancer-controller", f"elasticloadbalancing:Create{what}")
        assert conditions == {"StringEquals": {f"aws:RequestTag/{BALANCED}": "demo"}}


def test_load_balancers_of_others_are_not_changed() -> None:
    """The two exceptions are those that AWS makes in its own policy for the same controller."""
    free = {"elasticloadbalancing:SetRulePriorities", "elasticloadbalancing:SetWebAcl"}
    writes = {
        action
        for action in actions("load-balancer-controller")
        if re.match(r"elasticloadbalancing:(Modify|Set|Delete|Register|Deregister|Add|Remove)", action)
    }
    assert free < writes
    for action in writes - free:
        for _, conditions in granting("load-balancer-controller", action):
            equal = conditions["StringEquals"]
            own = equal.get(f"aws:ResourceTag/{BALANCED}") == "demo"
            assert own or (action.endswith("AddTags") and "elasticloadbalancing:CreateAction" in equal), action


def test_the_load_balancer_controller_cannot_take_over_by_tagging() -> None:
    for action in ("elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags", "ec2:CreateTags"):
        for _, conditions in granting("load-balancer-controller", action):
            creating = {"elasticloadbalancing:CreateAction", "ec2:CreateAction"} & set(conditions["StringEquals"])
            assert creating or conditions["Null"] == {f"aws:RequestTag/{BALANCED}": "true"}


def test_security_groups_are_the_controllers_or_the_nodes() -> None:
    keys = [
        set(conditions["StringEquals"])
        for _, conditions in granting("load-balancer-controller", "ec2:AuthorizeSecurityGroupIngress")
    ]
    assert keys == [{f"aws:ResourceTag/{BALANCED}"}, {OWNED}]
    ((_, conditions),) = granting("load-balancer-controller", "ec2:DeleteSecurityGroup")
    assert conditions == {"StringEquals": {f"aws:ResourceTag/{BALANCED}": "demo"}}


def test_the_service_linked_role_is_that_of_load_balancing() -> None:
    ((_, conditions),) = granting("load-balancer-controller", "iam:CreateServiceLinkedRole")
    assert conditions == {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}}


def test_the_load_balancer_controller_can_do_what_aws_lets_its_own_do() -> None:
    """EKS Auto Mode runs the same controller; what it needs beyond is for its own tags and for EC2-Classic."""
    document = json.loads(aws_managed_policies_data)["AmazonEKSLoadBalancingPolicy"]["Document"]
    theirs = {action for one in document["Statement"] for action in one["Action"]}
    assert theirs - actions("load-balancer-controller") == {
        "ec2:DescribeClassicLinkInstances",
        "ec2:DescribeVpcClassicLink",
        "shield:TagResource",
        "wafv2:ListWebACLs",
    }


def test_the_model_loader_has_exactly_two_actions() -> None:
    document = model_loader(["models", "more/llama/"], "aws")
    assert document["Statement"] == [
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": ["arn:aws:s3:::models"]},
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/*"]},
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": ["arn:aws:s3:::more"],
            "Condition": {"StringLike": {"s3:prefix": "llama/*"}},
        },
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::more/llama/*"]},
    ]


@pytest.mark.parametrize(
    "location", ["", "s3://models", "Models", "m", "models/*", "models/ll?ma", "models/${aws:x}"]
)
def test_places_that_are_no_bucket_or_more_than_a_prefix(location: str) -> None:
    assert repr(location) in (location_problem(location) or "")
    with pytest.raises(ValueError, match=r"found"):
        model_loader([location], "aws")


@pytest.mark.parametrize("location", ["models", "my.models-1", "models/a", "models/a/b c/"])
def test_places_of_models(location: str) -> None:
    assert location_problem(location) is None


def test_every_wrong_value_is_named_at_once() -> None:
    with pytest.raises(ValueError, match="policy cluster-autoscaler") as raised:
        policy("cluster-autoscaler", cluster="*", partition="", colour="red")
    message = str(raised.value)
    assert "region is missing" in message
    assert "colour is unknown; allowed are cluster, partition, region" in message
    assert "cluster is '*'" in message
    assert "partition is ''" in message


def test_an_unknown_policy_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        policy("admin")


def test_each_document_is_its_own() -> None:
    filled("cluster-autoscaler")["Statement"].clear()
    assert filled("cluster-autoscaler")["Statement"]


def test_the_partition_and_region_reach_every_resource() -> None:
    values = {**VALUES, "partition": "aws-cn", "region": "cn-north-1"}
    for name in policies():
        document = policy(name, **{key: values[key] for key in placeholders(name)})
        text = json.dumps(document)
        for given in ("node_role_arn", "queue_arn", "key_arn"):
            text = text.replace(VALUES[given], "")
        assert "arn:aws:" not in text, name
        assert "us-east-1" not in text, name


def test_controllers_have_their_customary_service_accounts() -> None:
    assert {key: (one.namespace, one.service_account) for key, one in controllers().items()} == {
        "cluster-autoscaler": ("kube-system", "cluster-autoscaler"),
        "karpenter": ("kube-system", "karpenter"),
        "load-balancer-controller": ("kube-system", "aws-load-balancer-controller"),
        "cert-manager": ("cert-manager", "cert-manager"),
        "ebs-csi": ("kube-system", "ebs-csi-controller-sa"),
        "efs-csi": ("kube-system", "efs-csi-controller-sa"),
    }


def test_each_controller_has_a_policy_of_ours_or_of_aws() -> None:
    for key, one in controllers().items():
        assert bool(one.policy) != bool(one.managed), key
        assert not one.policy or one.policy in policies()
    assert controllers()["ebs-csi"].managed == ("AmazonEBSCSIDriverPolicyV2",)
    assert controllers()["efs-csi"].managed == ("service-role/AmazonEFSCSIDriverPolicy",)


def test_the_volume_driver_deletes_what_it_made_and_nothing_else() -> None:
    """As AWS has it: the document in moto's copy of the managed policies."""
    (policy,) = controllers()["ebs-csi"].managed
    statements = json.loads(aws_managed_policies_data)[policy]["Document"]["Statement"]
    deleting = [each for each in statements if "ec2:DeleteVolume" in each["Action"]]
    assert deleting
    conditions = [json.dumps(each["Condition"]) for each in deleting]
    assert all("ResourceTag/" in condition for condition in conditions), conditions


def test_policies_that_aws_manages_exist() -> None:
    known = json.loads(aws_managed_policies_data)
    for one in controllers().values():
        for managed in one.managed:
            path, _, name = f"/{managed}".rpartition("/")
            assert known[name]["Path"] == f"{path}/"


def test_a_role_trusts_service_accounts_of_one_cluster() -> None:
    document = pod_identity_trust("demo", [("a", "one"), ("b", "two"), ("a", "three")])
    common = {"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}}
    cluster = {"aws:RequestTag/eks-cluster-name": "demo"}
    assert document["Version"] == "2012-10-17"
    assert document["Statement"] == [
        {
            **common,
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {
                    **cluster,
                    "aws:RequestTag/kubernetes-namespace": namespace,
                    "aws:RequestTag/kubernetes-service-account": names,
                }
            },
        }
        for namespace, names in (("a", ["one", "three"]), ("b", ["two"]))
    ]
