"""Unknown values on both sides are compared by the outputs that they are made of."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pulumi_aws import ec2, eks, iam, s3

from tests.plan.review.following.programs import Program, Thing, change_of, changes, snapshot_of

USER = "user"
Value = Callable[[dict[str, Any]], Any]


def uses(value: Value, *, zones: str = "ab", other_network: bool = False) -> Program:
    """A program with subnets in some zones, and a resource that uses what a function makes of them.

    Args:
        value: Makes the value, of the resources by name.
        zones: Letters of the zones; each has a subnet.
        other_network: Whether the subnet in the last zone has other addresses, which only a new one can have.
    """

    def program() -> None:
        found: dict[str, Any] = {"role": iam.Role("role", assume_role_policy="{}")}
        for zone in zones:
            moved = other_network and zone == zones[-1]
            cidr = "10.1.0.0/24" if moved else f"10.0.{ord(zone)}.0/24"
            found[zone] = ec2.Subnet(zone, vpc_id="vpc-1", cidr_block=cidr, availability_zone=f"us-east-1{zone}")
        found["all"] = [found[zone] for zone in zones]
        Thing(USER, {"value": value(found)})

    return program


def ids(found: dict[str, Any]) -> list[pulumi.Output[str]]:
    return [subnet.id for subnet in found["all"]]


def digest(texts: Any) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:6]


LISTS: dict[str, Value] = {
    "a list of outputs": ids,
    "Output.all": lambda found: pulumi.Output.all(*ids(found)),
    "nested in objects": lambda found: {"a": [{"b": {"subnets": ids(found)}}]},
    "joined": lambda found: pulumi.Output.all(*ids(found)).apply(",".join),
    "JSON text": lambda found: pulumi.Output.json_dumps({"subnets": ids(found)}),
    "JSON text by apply": lambda found: pulumi.Output.all(*ids(found)).apply(json.dumps),
    "a digest": lambda found: pulumi.Output.all(*ids(found)).apply(lambda known: f"name-{digest(known)}"),
    "a digest of JSON text": lambda found: pulumi.Output.json_dumps(ids(found)).apply(lambda text: digest([text])),
    "a digest in a text": lambda found: pulumi.Output.format("a-{0}-b", pulumi.Output.all(*ids(found)).apply(digest)),
    "a secret": lambda found: pulumi.Output.secret(pulumi.Output.all(*ids(found))),
    "a secret text": lambda found: pulumi.Output.secret(pulumi.Output.all(*ids(found)).apply(json.dumps)),
    "a mapping": lambda found: pulumi.Output.all(**{subnet._name: subnet.arn for subnet in found["all"]}),
    "an awaited list": lambda found: pulumi.Output.all(*ids(found)).apply(_later),
    "an output of an output": lambda found: pulumi.Output.all(*ids(found)).apply(pulumi.Output.from_input),
}


async def _later(value: Any) -> Any:
    return value


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_the_same_outputs_are_no_change(value: Value) -> None:
    assert changes(uses(value), uses(value)) == []


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_an_output_more_is_a_change(value: Value) -> None:
    assert changes(uses(value, zones="ab"), uses(value, zones="abc")) == [("created", "c"), ("updated", USER)]


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_an_output_less_is_a_change(value: Value) -> None:
    assert changes(uses(value, zones="abc"), uses(value, zones="ab")) == [("deleted", "c"), ("updated", USER)]


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_another_output_in_the_same_place_is_a_change(value: Value) -> None:
    assert ("updated", USER) in changes(uses(value, zones="ab"), uses(value, zones="ac"))


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_an_output_of_what_is_replaced_is_a_change(value: Value) -> None:
    assert changes(uses(value), uses(value, other_network=True)) == [("replaced", "b"), ("updated", USER)]


UNCHANGED: dict[str, Value] = {
    "what uses the other subnet": lambda found: found["a"].id,
    "an input of what is replaced": lambda found: found["b"].availability_zone,
    "a function that leaves it out": lambda found: pulumi.Output.all(found["a"].id, found["b"].id).apply(
        lambda known: known[0]
    ),
    "a digest that leaves it out": lambda found: pulumi.Output.all(*ids(found)).apply(
        lambda known: digest(known[:1])
    ),
    "a constant": lambda found: pulumi.Output.all(*ids(found)).apply(lambda _: "constant"),
    "after it": lambda found: pulumi.Output.all(found["a"].id, found["b"].urn).apply(lambda known: known[0]),
}


@pytest.mark.parametrize("value", UNCHANGED.values(), ids=UNCHANGED)
def test_what_does_not_depend_on_the_replaced_resource(value: Value) -> None:
    """The result of a function is what counts: Pulumi's preview says more, since it calls none with unknowns."""
    assert changes(uses(value), uses(value, other_network=True)) == [("replaced", "b")]


@pytest.mark.parametrize(
    "value",
    [
        lambda known: len(known) + int(digest(known), 16) % 7,
        lambda known: digest(known)[0] in "0123456",
        lambda known: int(known[0]),
    ],
    ids=["a number", "a truth value", "a value that a stand-in cannot be"],
)
def test_what_cannot_be_followed_comes_from_its_resources(value: Callable[[Any], Any]) -> None:
    def made(found: dict[str, Any]) -> Any:
        return pulumi.Output.all(*ids(found)).apply(value)

    assert changes(uses(made), uses(made)) == []
    assert changes(uses(made), uses(made, zones="abc")) == [("created", "c"), ("updated", USER)]
    assert changes(uses(made), uses(made, other_network=True)) == [("replaced", "b"), ("updated", USER)]


@pytest.mark.parametrize("traced", [True, False])
def test_resources_without_known_types(*, traced: bool) -> None:
    def program(names: str) -> Program:
        def run() -> None:
            things = [Thing(name, {}) for name in names]
            Thing(USER, {"of": pulumi.Output.all(*(thing.id for thing in things))})

        return run

    assert changes(program("ab"), program("ab"), traced=traced) == []
    assert changes(program("ab"), program("abc"), traced=traced) == [("created", "c"), ("updated", USER)]


def test_another_output_of_the_same_resource() -> None:
    assert changes(uses(lambda found: found["a"].id), uses(lambda found: found["a"].arn)) == [("updated", USER)]


def test_another_function_of_the_same_outputs() -> None:
    def made(text: str) -> Value:
        return lambda found: pulumi.Output.all(*ids(found)).apply(lambda known: f"{text}-{digest([text, *known])}")

    assert changes(uses(made("x")), uses(made("y"))) == [("updated", USER)]


ORDERED: dict[str, Any] = {
    "vpc_id": "vpc-1",
    "service_name": "com.amazonaws.us-east-1.ecr.api",
    "vpc_endpoint_type": "Interface",
}


def test_the_order_of_a_list_counts() -> None:
    assert changes(uses(ids), uses(lambda found: ids(found)[::-1])) == [("updated", USER)]


def test_the_order_of_a_set_does_not() -> None:
    def program(step: int) -> Program:
        def run() -> None:
            subnets = [ec2.Subnet(zone, vpc_id="vpc-1", availability_zone=zone) for zone in "ab"]
            ec2.VpcEndpoint("endpoint", subnet_ids=[subnet.id for subnet in subnets[::step]], **ORDERED)

        return run

    assert changes(program(1), program(-1)) == []


def test_names_say_what_a_value_comes_from() -> None:
    after = uses(ids, zones="abc")
    (field,) = change_of(USER, uses(ids), after).fields
    assert (field.path, field.before, field.after) == ("value[2]", None, "[id of aws:ec2/subnet c]")


def test_a_replaced_source_is_named() -> None:
    (field,) = change_of(USER, uses(ids), uses(ids, other_network=True)).fields
    assert (field.before, field.after) == ("[id of aws:ec2/subnet b]", "[id of aws:ec2/subnet b, which changes]")


def test_a_secret_is_named_by_its_sources_alone() -> None:
    """Nothing of the text is told, and no digest of it: what else is in it may be short."""

    def program() -> None:
        bucket = s3.Bucket("data")
        text: Any = pulumi.Output.format("user:hunter2@{0}", bucket.id)
        Thing(USER, {"dsn": pulumi.Output.secret(text)})

    found = snapshot_of(program)
    (user,) = (resource for resource in found.resources if resource.name == USER)
    assert user.inputs == {"dsn": "[secret from id of aws:s3/bucket data]"}
    assert "hunter2" not in repr(found)


def test_numbers_and_blocks() -> None:
    def program(version: str) -> Program:
        def run() -> None:
            template = ec2.LaunchTemplate("template", image_id=version)
            cluster = eks.Cluster("cluster", role_arn="arn", vpc_config={"subnet_ids": ["subnet-1"]})
            group = cluster.vpc_config.cluster_security_group_id
            Thing(USER, {"version": template.latest_version, "text": template.latest_version.apply(str), "in": group})

        return run

    (user,) = (resource for resource in snapshot_of(program("ami-1")).resources if resource.name == USER)
    assert user.inputs == {
        "version": "[latestVersion of aws:ec2/launchTemplate template]",
        "text": "[latestVersion of aws:ec2/launchTemplate template]",
        "in": "[vpcConfig.clusterSecurityGroupId of aws:eks/cluster cluster]",
    }
    assert changes(program("ami-1"), program("ami-1")) == []
    assert changes(program("ami-1"), program("ami-2")) == [("updated", "template"), ("updated", USER)]


def test_two_resources_of_one_title_are_not_mistaken_for_each_other() -> None:
    def program(parent: str) -> Program:
        def run() -> None:
            parents = {name: pulumi.ComponentResource(f"p:index:{name}", name) for name in "AB"}
            roles = {
                name: iam.Role("role", assume_role_policy="{}", opts=pulumi.ResourceOptions(parent=each))
                for name, each in parents.items()
            }
            Thing(USER, {"first": roles["A"].arn, "role": roles[parent].arn})

        return run

    assert changes(program("A"), program("B")) == [("updated", USER)]
    assert changes(program("B"), program("B")) == []


def test_every_process_gives_the_same_names() -> None:
    program = uses(LISTS["a digest in a text"])
    assert snapshot_of(program) == snapshot_of(program)
