"""The real engine replaces objects together with a cluster, as the model of it does."""

from typing import Any

import pytest

from tests.real_engine.conftest import engine_programs, real, real_engine
from tests.real_engine.support import RealStack
from toolkit.kube import Kube

__all__ = ["engine_programs", "real", "real_engine"]
PROGRAM = """
from pathlib import Path

import pulumi
import yaml

settings = yaml.safe_load(Path("settings.yaml").read_text())
kubeconfig = pulumi.Config().require("kubeconfig")


def config_map(name, data, options):
    metadata = {"name": name, "namespace": "default"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return pulumi.CustomResource("kubernetes:core/v1:ConfigMap", name, body, options)


first = pulumi.ProviderResource("kubernetes", "first", {"kubeconfig": kubeconfig})
replaced = pulumi.ResourceOptions(provider=first, replace_on_changes=["data"], delete_before_replace=True)
cluster = config_map("stands-for-a-cluster", {"range": settings["range"]}, replaced)
tied = pulumi.ResourceOptions(depends_on=[cluster], deleted_with=cluster if settings["tied"] else None)
inputs = {"kubeconfig": kubeconfig, "clusterIdentifier": "us-east-1/c"}
second = pulumi.ProviderResource("kubernetes", "second", inputs, tied)
config_map("object-in-it", {"key": "value"}, pulumi.ResourceOptions(provider=second))
"""


@pytest.mark.parametrize("tied", [True, False])
def test_objects_are_created_anew_only_if_their_provider_is_deleted_with_the_cluster(
    real: RealStack, kube: Kube, tied: bool
) -> None:
    """The identifier of the provider's cluster stays the same."""
    (real.folder / "__main__.py").write_text(PROGRAM)

    def deployed(range_: str) -> Any:
        settings = f"range: {range_!r}\ntied: {str(tied).lower()}\n"
        (real.folder / "settings.yaml").write_text(settings)
        assert real.cli.up(yes=True) == 0
        return kube.get("v1", "ConfigMap", "object-in-it", "default")["metadata"]["uid"]

    before = deployed("172.20.0.0/16")
    assert (deployed("172.21.0.0/16") != before) is tied
    assert real.cli.destroy(yes=True) == 0
