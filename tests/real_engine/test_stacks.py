"""The shipped stacks under the real engine: it sees the graph that the local engine sees."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import ROOT
from tests.stacks.shipped import ON_AWS
from workbench.engine.local import LocalEngine
from workbench.engine.program.resources import provider_urn
from workbench.engine.project import load_project
from workbench.engine.pulumi_cli import PulumiCli
from workbench.engine.values import UNKNOWN, Secret

Json = dict[str, Any]
UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""How the engine writes unknown values: sdk/go/common/resource/plugin/rpc.go, UnknownStringValue."""


def graph_of(steps: list[Json]) -> dict[str, Json]:
    """The resources of ``preview --json``, without what the engine adds: the stack, and inputs of providers."""
    found = {}
    for step in steps:
        state = step["newState"]
        if state["type"].startswith("pulumi:providers:"):
            for name in ("version", "__internal"):
                state["inputs"].pop(name)
        if state["type"] != "pulumi:pulumi:Stack":
            found[state["urn"]] = described(
                state.get("parent", ""),
                state.get("provider", ""),
                state.get("dependencies") or (),
                state.get("inputs") or {},
            )
    return found


def described(parent: str, provider: str, dependencies: Any, inputs: Mapping[str, Any]) -> Json:
    return {
        "parent": "" if "::pulumi:pulumi:Stack::" in parent else parent,
        "provider": provider_urn(provider) if provider.count("::") > 3 else provider,
        "dependencies": sorted(dependencies),
        "inputs": plain(inputs),
    }


def plain(value: Any) -> Any:
    """A value as both engines write it: without secrets, unknown values by one word.

    The provider also reads built-in kinds into Kubernetes' types and writes them back: quantities become text, and a
    ``globalDefault`` that is false is left out. The API server treats both forms alike.
    """
    if isinstance(value, Secret):
        return "[secret]"
    if value in (UNKNOWN, UNKNOWN_TEXT):
        return "unknown"
    if isinstance(value, Mapping):
        kept = {key: inner for key, inner in value.items() if (key, inner) != ("globalDefault", False)}
        return {key: _texts(inner) if key in ("limits", "requests") else plain(inner) for key, inner in kept.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def _texts(quantities: Any) -> Any:
    if not isinstance(quantities, Mapping):  # a field of that name in another kind
        return plain(quantities)
    return {name: str(inner) if type(inner) in (int, float) else plain(inner) for name, inner in quantities.items()}


@pytest.mark.usefixtures("real_engine", "aws")
@pytest.mark.parametrize("stack", ["local", *ON_AWS])
def test_both_engines_see_one_graph(
    stack: str, request: pytest.FixtureRequest, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Stacks on AWS create their cluster.
    kubeconfig = str(request.getfixturevalue("cluster").kubeconfig) if stack == "local" else ""
    cli = PulumiCli(ROOT, stack, tmp_path / "state", kubeconfig)
    assert cli.preview(as_json=True) == 0, capfd.readouterr().err
    previewed = json.loads(capfd.readouterr().out)
    assert set(previewed["changeSummary"]) == {"create"}
    real = graph_of(previewed["steps"])

    project = load_project(ROOT, stack, {"kubeconfig": kubeconfig} if kubeconfig else None)
    graph = LocalEngine(project, tmp_path).record(preview=True)
    local = {
        urn: described(
            node.registration.parent, node.registration.provider, node.registration.dependencies, node.inputs
        )
        for urn, node in graph.nodes.items()
    }
    assert len(local) > 100
    assert real.keys() == local.keys()
    different = {urn: (real[urn], local[urn]) for urn in local if real[urn] != local[urn]}
    assert different == {}
