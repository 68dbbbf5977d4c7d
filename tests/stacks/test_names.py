"""A stack's name says which kind of environment it is, in the checkout, examples, templates and ``init``."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stacks.shipped import ROOT
from workbench.creating.answers import Answers, CiChoice, ClusterChoice, FamilyChoice
from workbench.creating.repository import repository

FILES = sorted(path for folder in (".", "examples/*", "templates/*") for path in ROOT.glob(f"{folder}/Pulumi.*.yaml"))
SIMULATED, EXISTING, SMALL_EKS, LARGE_EKS = "simulated", "a cluster that exists", "a small EKS environment", "EKS"
NAMES = {"local": SIMULATED, "shared": EXISTING, "dev": SMALL_EKS, "staging": LARGE_EKS, "prod": LARGE_EKS}


def kind(name: str, settings: Mapping[str, Any]) -> str:
    """What the settings of a stack are; a program of its own has none, and gets the cluster by a kubeconfig."""
    if settings.get("simulatedNodes"):
        return SIMULATED
    if settings.get("cloud") != "aws":
        return EXISTING
    small = (
        settings["cluster"].get("systemNodes", 2) <= 2
        and not settings.get("frontDoor")
        and not settings.get("protect")
    )
    return SMALL_EKS if small and name == "dev" else LARGE_EKS


def settings_in(text: str) -> dict[str, Any]:
    config = yaml.safe_load(text.replace("${PROJECT}", "fleet"))["config"]
    return {key.removeprefix("inference-platform:"): value for key, value in config.items()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_shipped_stack_is_what_its_name_says(path: Path) -> None:
    name = path.name.split(".")[1]
    assert kind(name, settings_in(path.read_text())) == NAMES[name]


@pytest.mark.parametrize("cluster", ClusterChoice)
def test_init_uses_the_same_names(cluster: ClusterChoice) -> None:
    files = repository(Answers(cluster, "us-east-1", FamilyChoice.LLMAZ, gateway=False, ci=CiChoice.NONE), "fleet")
    stacks = {match[1]: text for path, text in files.items() if (match := re.fullmatch(r"Pulumi\.(\w+)\.yaml", path))}
    assert set(stacks) == {"local", "dev" if cluster is ClusterChoice.EKS else "shared"}
    for name, text in stacks.items():
        assert kind(name, settings_in(text)) == NAMES[name]


def test_another_kind_under_a_name_is_noticed() -> None:
    assert kind("dev", {"kubeconfig": "kubeconfig"}) != NAMES["dev"]
    assert kind("shared", settings_in((ROOT / "Pulumi.dev.yaml").read_text())) != NAMES["shared"]
