"""Add-ons that follow the newest version: EKS is asked for it, where that is wanted and nowhere else."""

from typing import Any

import pytest
from pulumi.runtime import mocks

from components.resources.aws.cluster import Cluster
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws

ADDON = "aws:eks/addon:Addon"
NEWEST = "v9.9.9-eksbuild.9"


class Versions(Aws):
    """Knows the newest version of every add-on, and who asked for which."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        assert args.token == "aws:eks/getAddonVersion:getAddonVersion"
        self.asked.append(dict(args.args))
        return {**args.args, "version": NEWEST, "id": "x", "region": "us-east-1"}, []


def made(answers: Versions, *, preview: bool = False, **addons: str) -> Recorded:
    def program() -> None:
        named = {name.replace("_", "-"): version for name, version in addons.items()}
        Cluster(
            "main",
            {
                "region": "us-east-1",
                "version": "1.35",
                "subnet_ids": ["a", "b"],
                "public_access_cidrs": ["203.0.113.0/24"],
                "addons": named,
            },
        )

    return deploy(program, preview=preview, mock=answers)


@pytest.mark.parametrize("preview", [False, True])
def test_eks_is_asked_for_the_newest_version_for_the_clusters(preview: bool) -> None:
    answers = Versions()
    graph = made(answers, preview=preview, coredns="most-recent")
    assert graph[f"{ADDON}::main-coredns"].inputs["addonVersion"] == NEWEST
    assert answers.asked == [{"addonName": "coredns", "kubernetesVersion": "1.35", "mostRecent": True}]


def test_nobody_is_asked_otherwise() -> None:
    answers = Versions()
    graph = made(answers, coredns="", vpc_cni="default", kube_proxy="v1.35.3-eksbuild.13")
    assert answers.asked == []
    assert NEWEST not in {entry.inputs.get("addonVersion") for entry in graph.of(ADDON)}
