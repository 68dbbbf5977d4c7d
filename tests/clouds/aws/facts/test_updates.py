"""The tables of what updates do name fields that the resources have."""

import ast
import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws
import pytest
import yaml
from pulumi import _types

from components.clouds.aws.facts.updates import (
    deletes_first,
    known_arguments,
    replaced_fields,
    replacing_provider_input,
)
from tests.stacks.shipped import ON_AWS, ROOT, as_shipped

MODULES = frozenset(module.name for module in pkgutil.iter_modules(pulumi_aws.__path__))
TABLE: dict[str, Any] = yaml.safe_load((ROOT / "components/clouds/aws/facts/updates.yaml").read_text())


def fields() -> Iterator[tuple[str, str]]:
    for type_, row in TABLE["types"].items():
        yield from ((type_, path) for path in (*row["replaced"], *row["updated"]))
    for type_, paths in TABLE["conditional"].items():
        yield from ((type_, path) for path in paths)
    for part in ("rolled", "sets"):
        yield from ((type_, path) for type_, paths in TABLE[part].items() for path in paths)
    for type_, outputs in TABLE["renewed"].items():
        yield from ((type_, path) for output, paths in outputs.items() for path in (output, *paths))
    yield from TABLE["first"]["named"].items()


def test_fields_are_there() -> None:
    missing = [
        f"{type_}: {path}" for type_, path in fields() if type_.startswith("aws:") and not is_field(type_, path)
    ]
    assert missing == []
    assert not is_field("aws:ec2/vpc:Vpc", "cidr_blockk")


def is_field(type_: str, path: str) -> bool:
    """Tell whether the SDK has a field of a resource, or one in it."""
    steps = path.split(".")
    known = _types.resource_types(resource_class(type_))
    if len(steps) == 1 or steps[0] not in known:
        return steps[0] in known
    inner = known[steps[0]]
    return steps[1] in _types.output_type_types(getattr(inner, "__args__", (inner,))[0])


@pytest.mark.parametrize("type_", [*TABLE["first"]["always"], *TABLE["first"]["never"]])
def test_types_are_there(type_: str) -> None:
    assert resource_class(type_)


def resource_class(type_: str) -> type[pulumi.CustomResource]:
    _, module, name = type_.split(":")
    with warnings.catch_warnings():
        # Modules of pulumi-aws warn of their own deprecated classes as soon as they are imported.
        warnings.simplefilter("ignore", DeprecationWarning)
        home = importlib.import_module(f"pulumi_aws.{module.partition('/')[0]}")
        found: type[pulumi.CustomResource] = getattr(home, name)
    return found


@pytest.mark.parametrize(
    ("type_", "inputs", "first"),
    [
        ("aws:eks/nodeGroup:NodeGroup", {"nodeGroupName": "a"}, True),
        ("aws:eks/nodeGroup:NodeGroup", {"name": "a"}, False),
        ("aws:iam/role:Role", {"name": "a"}, True),
        ("aws:iam/role:Role", {}, False),
        ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", {}, True),
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", {"name": "a"}, False),
        ("any:index:Thing", {"name": "a"}, False),
    ],
)
def test_what_goes_before_its_replacement(type_: str, inputs: dict[str, str], *, first: bool) -> None:
    assert deletes_first(type_, inputs) is first


# What components register


@dataclass(frozen=True)
class Call:
    """A call of a resource class of pulumi_aws."""

    type: str
    arguments: frozenset[str]
    """As in Pulumi's schema; without those that a mapping passes."""


def calls(source: str) -> Iterator[Call]:
    """Yield the resources of pulumi_aws that a module registers."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if not isinstance(node.func.value, ast.Name) or node.func.value.id not in MODULES:
            continue
        module = importlib.import_module(f"pulumi_aws.{node.func.value.id}")
        class_ = getattr(module, node.func.attr, None)
        if isinstance(class_, type) and issubclass(class_, pulumi.CustomResource):
            names = argument_names(getattr(module, f"{node.func.attr}Args"))
            given = {keyword.arg for keyword in node.keywords if keyword.arg and keyword.arg != "opts"}
            yield Call(class_.pulumi_type, frozenset(names[name] for name in given))  # type: ignore[attr-defined]


def argument_names(args: type) -> dict[str, str]:
    """Return the names of arguments in the schema, by their names in Python."""
    members = ((name, inspect.getattr_static(args, name)) for name in dir(args))
    return {
        name: getattr(member.fget, "_pulumi_name", name) for name, member in members if isinstance(member, property)
    }


def files_of(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def unknown(source: str) -> list[str]:
    """Return the types and arguments in a module that the table does not know."""
    found = []
    for call in calls(source):
        known = known_arguments(call.type)
        found += [f"{call.type}: {name}" for name in sorted(call.arguments - (known or frozenset()))]
    return found


def test_the_table_knows_every_argument_that_components_pass() -> None:
    """Add a missing one with its source: hashicorp/terraform-provider-aws says whether it replaces the resource."""
    sources = {path: path.read_text() for folder in ("components/resources", "stacks") for path in files_of(folder)}
    assert {str(path): found for path, source in sources.items() if (found := unknown(source))} == {}
    assert sum(1 for source in sources.values() for _ in calls(source)) > 60


def test_the_table_knows_every_input_of_the_shipped_stacks() -> None:
    """Arguments that components pass as mappings are no keywords in the source."""
    found = {
        f"{entry.type}: {name}"
        for stack in ON_AWS
        for entry in as_shipped(stack).graph
        if entry.type.startswith("aws:")
        for name in entry.inputs
        if name not in (known_arguments(entry.type) or ())
    }
    assert found == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('ec2.Vpc("a", cidr_block="10.0.0.0/16")', []),
        ('ec2.Vpc("a", instance_tenancy="dedicated")', ["aws:ec2/vpc:Vpc: instanceTenancy"]),
        ('ec2.Vpc("a", ipv6_netmask_length=56, tags={})', ["aws:ec2/vpc:Vpc: ipv6NetmaskLength"]),
        ('sqs.RedrivePolicy("a", queue_url="b")', ["aws:sqs/redrivePolicy:RedrivePolicy: queueUrl"]),
    ],
)
def test_an_argument_that_the_table_does_not_know_is_found(source: str, found: list[str]) -> None:
    assert unknown(source) == found


# What replaces: expected values are those of the provider's documentation and source


@pytest.mark.parametrize(
    ("type_", "path", "before", "after", "replaces"),
    [
        ("aws:ec2/vpc:Vpc", "cidrBlock", "10.0.0.0/16", "10.1.0.0/16", True),
        ("aws:ec2/vpc:Vpc", "tags", {}, {"a": "b"}, False),
        ("aws:ec2/flowLog:FlowLog", "trafficType", "ALL", "REJECT", True),
        ("aws:efs/fileSystem:FileSystem", "kmsKeyId", "a", "b", True),
        ("aws:efs/fileSystem:FileSystem", "throughputMode", "elastic", "bursting", False),
        ("aws:route53/record:Record", "zoneId", "a", "b", True),
        ("aws:route53/record:Record", "records", ["a"], ["b"], False),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "storageCapacity", 4800, 2400, True),
        ("aws:fsx/lustreFileSystem:LustreFileSystem", "storageCapacity", 2400, 4800, False),
        ("aws:eks/cluster:Cluster", "encryptionConfig", {"resources": ["secrets"]}, None, True),
        ("aws:eks/cluster:Cluster", "encryptionConfig", None, {"resources": ["secrets"]}, False),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "ecrRepositoryPrefix", "a", "b", True),
        ("aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "credentialArn", "a", "b", False),
    ],
)
def test_what_replaces(type_: str, path: str, before: object, after: object, *, replaces: bool) -> None:
    inputs = [{} if value is None else {path: value} for value in (before, after)]
    assert (path in replaced_fields(type_, *inputs)) is replaces


def test_the_version_of_a_template_replaces_an_instance_only_if_it_changes() -> None:
    type_ = "aws:ec2/instance:Instance"
    one, two = ({"launchTemplate": {"id": "lt-0", "version": version}} for version in ("1", "2"))
    assert "launchTemplate.version" in replaced_fields(type_, one, two)
    assert "launchTemplate.version" not in replaced_fields(type_, one, one)


def test_the_region_of_the_provider_replaces_what_has_a_region() -> None:
    """IAM and Route 53 are global services."""
    regions = [{"region": region} for region in ("us-east-1", "us-west-2")]
    assert replacing_provider_input("aws:ec2/vpc:Vpc", *regions) == "region"
    assert replacing_provider_input("aws:iam/role:Role", *regions) == ""
    assert replacing_provider_input("aws:ec2/vpc:Vpc", regions[0], regions[0]) == ""
    assert replacing_provider_input("kubernetes:core/v1:Pod", *regions) == ""


def test_the_types_without_a_region_are_those_of_the_sdk() -> None:
    """The SDK has an argument ``region`` where a resource has one (pulumi_aws, multi-region support)."""
    without = {type_ for type_ in TABLE["types"] if "region" not in _types.resource_types(resource_class(type_))}
    assert without == set(TABLE["global"])
