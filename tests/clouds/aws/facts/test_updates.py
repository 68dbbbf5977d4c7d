"""The tables of what updates do name fields that the resources have."""

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
import yaml
from pulumi import _types

from components.clouds.aws.facts.updates import deletes_first
from tests.stacks.shipped import ROOT

TABLE: dict[str, Any] = yaml.safe_load((ROOT / "components/clouds/aws/facts/updates.yaml").read_text())


def fields() -> Iterator[tuple[str, str]]:
    for part in ("replaced", "rolled", "sets"):
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
