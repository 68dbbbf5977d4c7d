"""What every component for AWS does with its arguments: everything that is wrong is reported at once."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from components import Cluster, Identities, ImageCache, KarpenterAccess, ModelStorage, Network
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws

Component = Callable[[str, Any], Any]
NAMED = {"cluster_name": "main", "cluster_plain_name": "main", "region": "us-east-1"}
VALID: list[tuple[Component, Mapping[str, Any]]] = [
    (Network, {"cluster_name": "main", "region": "us-east-1", "zones": ["us-east-1a", "us-east-1b"]}),
    (
        Cluster,
        {"region": "us-east-1", "version": "1.35", "subnet_ids": ["subnet-a", "subnet-b"], "bastion": True},
    ),
    (Identities, {**NAMED, "controllers": ["cluster-autoscaler"]}),
    (KarpenterAccess, NAMED),
    (ImageCache, {"account": "123456789012", "region": "us-east-1", "registries": ["quay.io"]}),
    (
        ModelStorage,
        {"cluster_name": "main", "region": "us-east-1", "namespaces": ["models"], "efs": {"id": "fs-01234567"}},
    ),
]


def made(component: Component, args: Mapping[str, Any]) -> Recorded:
    def program() -> None:
        component("x", args)

    return deploy(program, mock=Aws())


@pytest.mark.parametrize(("component", "args"), VALID)
def test_an_unknown_argument_is_an_error_beside_others(component: Component, args: Mapping[str, Any]) -> None:
    assert made(component, args).graph
    with pytest.raises(InvalidArguments) as raised:
        made(component, {**args, "tag": {}, "region": "nowhere"})
    found = {error["property_path"]: error["reason"] for error in raised.value.errors or []}
    assert set(found) == {"tag", "region"}
    assert found["tag"] == "unknown argument; did you mean 'tags'?"


@pytest.mark.parametrize(("component", "args"), VALID)
def test_what_a_component_cannot_do_without_is_named(component: Component, args: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidArguments, match=r"x: region: "):
        made(component, {key: value for key, value in args.items() if key != "region"})
