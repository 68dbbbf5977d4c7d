"""What follows from a replacement, by the rules of Pulumi's engine (step_generator.go)."""

from typing import Any

import pulumi
import pytest
from pulumi_aws import autoscaling, ec2, eks, iam

from components.plan.review.resources import PROTECTED, RETAINED
from components.plan.review.review import ChangeKind
from components.resources.serving.kubernetes_provider import KubernetesProvider
from components.resources.serving.objects import kubernetes_object
from tests.plan.review.following.programs import Program, Thing, change_of, changes, review_of

Options = pulumi.ResourceOptions


def test_replacements_follow_from_each_other() -> None:
    """A network with other addresses: other subnets, other associations; a gateway changes in place."""

    def program(cidr: str) -> Program:
        def run() -> None:
            vpc = ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
            subnet = ec2.Subnet("subnet", vpc_id=vpc.id, cidr_block=cidr)
            table = ec2.RouteTable("table", vpc_id=vpc.id)
            ec2.RouteTableAssociation("association", subnet_id=subnet.id, route_table_id=table.id)
            nat = ec2.NatGateway("nat", subnet_id=subnet.id)
            ec2.Route("route", route_table_id=table.id, nat_gateway_id=nat.id, destination_cidr_block="0.0.0.0/0")

        return run

    assert changes(program("10.0.0.0/24"), program("10.0.1.0/24")) == [
        ("replaced", "association"),
        ("replaced", "nat"),
        ("replaced", "subnet"),
        ("updated", "route"),
    ]


def node_group(name: str | None, first: bool | None = None, **inputs: Any) -> Program:
    """A node group, and what uses its name and its Auto Scaling group."""

    def run() -> None:
        group = eks.NodeGroup(
            "group",
            node_group_name=name,
            **{
                "cluster_name": "c",
                "node_role_arn": "r",
                "subnet_ids": ["s"],
                "scaling_config": {"min_size": 0, "max_size": 1, "desired_size": 0},
                **inputs,
            },
            opts=Options(delete_before_replace=first),
        )
        scaled = group.resources[0].autoscaling_groups[0].name
        autoscaling.Tag(
            "tag", autoscaling_group_name=scaled, tag={"key": "k", "value": "v", "propagate_at_launch": True}
        )
        iam.Role("role", name="fixed", path="/x/", assume_role_policy="{}", description=group.node_group_name)
        eks.AccessEntry("entry", cluster_name=group.cluster_name, principal_arn="p")

    return run


@pytest.mark.parametrize(
    ("name", "first", "entry"),
    [
        pytest.param("own", None, True, id="a name of its own: the provider deletes first"),
        pytest.param("own", False, False, id="a name of its own, and the program says otherwise"),
        pytest.param(None, None, False, id="a name that Pulumi makes"),
        pytest.param(None, True, True, id="the program deletes first"),
    ],
)
def test_what_goes_first_takes_those_with_it_that_cannot_stay(
    name: str | None, first: bool | None, entry: bool
) -> None:
    """The access entry gets the name of the cluster through the group, and it does not change."""
    found = changes(node_group(name, first), node_group(name, first, ami_type="AL2023_x86_64_STANDARD"))
    expected = [*([("replaced", "entry")] if entry else []), ("replaced", "group"), ("replaced", "tag")]
    assert [each for each in found if each[1] != "role"] == expected


def test_a_dependent_that_can_stay_does() -> None:
    """``description`` of a role changes in place, whatever it comes from."""
    found = changes(node_group("own"), node_group("own", ami_type="AL2023_x86_64_STANDARD"))
    assert [each for each in found if each[1] == "role"] == []


def in_a_cluster(cidr: str, *, tied: bool) -> Program:
    """An object in a cluster whose provider has the same identifier whatever the cluster is."""

    def run() -> None:
        cluster = eks.Cluster(
            "cluster",
            name="c",
            role_arn="r",
            vpc_config=eks.ClusterVpcConfigArgs(subnet_ids=["s"]),
            kubernetes_network_config=eks.ClusterKubernetesNetworkConfigArgs(service_ipv4_cidr=cidr),
        )
        opts = pulumi.ResourceOptions(deleted_with=cluster if tied else None)
        provider = KubernetesProvider("k8s", kubeconfig=cluster.endpoint, cluster_identifier="us-east-1/c", opts=opts)
        value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ml"}}
        kubernetes_object(value, "object", pulumi.ResourceOptions(provider=provider))

    return run


@pytest.mark.parametrize("tied", [True, False])
def test_objects_of_a_replaced_cluster_are_created_in_the_new_one(tied: bool) -> None:
    """Only if their provider goes with the cluster (calculateDependentReplacements in step_generator.go)."""
    found = changes(in_a_cluster("172.20.0.0/16", tied=tied), in_a_cluster("172.21.0.0/16", tied=tied))
    assert (("replaced", "object") in found) is tied
    assert (("replaced", "k8s") in found) is tied
    assert ("replaced", "cluster") in found


def test_why_it_goes_with_another_is_said() -> None:
    change = change_of("entry", node_group("own"), node_group("own", ami_type="AL2023_x86_64_STANDARD"))
    (field,) = change.fields
    assert (field.path, field.replaces) == ("clusterName", True)
    assert field.after == "[known after aws:eks/nodeGroup group is replaced]"


def test_an_update_changes_no_other_output() -> None:
    assert changes(node_group("own"), node_group("own", labels={"a": "b"})) == [("updated", "group")]


def template(**inputs: Any) -> Program:
    def run() -> None:
        made = ec2.LaunchTemplate("template", **inputs)
        Thing("user", {"id": made.id, "version": made.latest_version})

    return run


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ({"image_id": "a"}, [("updated", "template"), ("updated", "user")]),
        ({"tags": {"a": "b"}}, [("updated", "template"), ("updated", "user")]),
        ({"description": "other"}, [("updated", "template")]),
        ({"update_default_version": True}, [("updated", "template")]),
    ],
)
def test_an_update_makes_a_version_of_a_template(after: dict[str, Any], expected: list[Any]) -> None:
    assert changes(template(), template(**after)) == expected


def options(opts: Options | None = None, *, cidr: str = "10.0.0.0/24", subnet: Options | None = None) -> Program:
    def run() -> None:
        made = ec2.Subnet("subnet", vpc_id="v", cidr_block=cidr, opts=subnet)
        ec2.NatGateway("nat", subnet_id=made.id, opts=opts)

    return run


OTHER = "10.0.1.0/24"


def test_changes_that_are_ignored_are_none() -> None:
    ignoring = Options(ignore_changes=["subnetId"])
    assert changes(options(ignoring), options(ignoring, cidr=OTHER)) == [("replaced", "subnet")]


def test_ignored_changes_do_not_begin_a_replacement() -> None:
    ignoring = Options(ignore_changes=["cidrBlock"])
    assert changes(options(subnet=ignoring), options(subnet=ignoring, cidr=OTHER)) == []


def test_further_fields_that_replace() -> None:
    def program(text: str) -> Program:
        def run() -> None:
            first = Thing("first", {"text": text}, Options(replace_on_changes=["text"]))
            second = Thing("second", {"of": first.id}, Options(replace_on_changes=["of"]))
            Thing("third", {"of": second.id})

        return run

    assert changes(program("a"), program("b")) == [
        ("replaced", "first"),
        ("replaced", "second"),
        ("updated", "third"),
    ]


def test_what_is_not_there_without_another_is_replaced_with_it() -> None:
    def program(text: str) -> Program:
        def run() -> None:
            first = Thing("first", {"text": text}, Options(replace_on_changes=["text"]))
            Thing("second", {}, Options(deleted_with=first))
            Thing("third", {}, Options(depends_on=[first]))

        return run

    assert changes(program("a"), program("b")) == [("replaced", "first"), ("replaced", "second")]


def test_protection_is_said() -> None:
    protected = Options(protect=True)
    (change,) = review_of(options(subnet=protected), options(subnet=protected, cidr=OTHER)).changes[1:]
    assert (change.kind, change.note) == (ChangeKind.REPLACED, PROTECTED)
    unprotected = change_of("subnet", options(subnet=protected), options(cidr=OTHER))
    assert (unprotected.kind, unprotected.note) == (ChangeKind.REPLACED, "")


def test_what_is_retained_is_said() -> None:
    def nothing() -> None:
        pass

    found = {
        change.urn.rpartition("::")[2]: change
        for change in review_of(options(Options(retain_on_delete=True)), nothing).changes
    }
    assert {name: (each.kind, each.note) for name, each in found.items()} == {
        "nat": (ChangeKind.DELETED, RETAINED),
        "subnet": (ChangeKind.DELETED, ""),
    }


def aliased(name: str, *, alias: bool, cidr: str = "10.0.0.0/24") -> Program:
    def run() -> None:
        opts = Options(aliases=[pulumi.Alias(name="subnet")]) if alias else None
        made = ec2.Subnet(name, vpc_id="v", cidr_block=cidr, opts=opts)
        ec2.NatGateway("nat", subnet_id=made.id)
        Thing("user", {"name": made.id.apply(lambda known: f"x{hash(known)}"[:1] + known[::-1])})

    return run


def test_a_renamed_resource_has_the_outputs_that_it_had() -> None:
    assert changes(aliased("subnet", alias=False), aliased("renamed", alias=True)) == []


def test_a_renamed_resource_that_is_replaced_has_others() -> None:
    assert changes(aliased("subnet", alias=False), aliased("renamed", alias=True, cidr=OTHER)) == [
        ("replaced", "nat"),
        ("replaced", "renamed"),
        ("updated", "user"),
    ]


def test_without_an_alias_it_is_another_one() -> None:
    assert changes(aliased("subnet", alias=False), aliased("renamed", alias=False)) == [
        ("created", "renamed"),
        ("deleted", "subnet"),
        ("replaced", "nat"),
        ("updated", "user"),
    ]


def cluster(identifier: str | None, endpoint: str = "e", *, namespace: str = "models") -> Program:
    def run() -> None:
        inputs = {"kubeconfig": endpoint, **({"clusterIdentifier": identifier} if identifier else {})}
        provider = pulumi.ProviderResource("kubernetes", "cluster", inputs)
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": namespace}}
        pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "object", body, Options(provider=provider))
        Thing("thing", {})

    return run


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("a", "x"), ("a", "y"), [("updated", "cluster")]),
        (("a", "x"), ("b", "x"), [("replaced", "cluster"), ("replaced", "object")]),
        ((None, "x"), ("b", "x"), [("updated", "cluster")]),
        ((None, "x"), (None, "y"), [("replaced", "cluster"), ("replaced", "object")]),
    ],
    ids=["another way to the cluster", "another cluster", "an identifier comes", "nothing tells clusters apart"],
)
def test_objects_of_another_cluster_are_others(before: Any, after: Any, expected: list[Any]) -> None:
    assert changes(cluster(*before), cluster(*after)) == expected
