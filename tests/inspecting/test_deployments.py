"""Deployments that others published, as objects of the same structure, with the verdict (``deployments.yaml``)."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.inspecting.objects import node
from workbench.inspecting.formats import engines, parallelism
from workbench.inspecting.inspection import InspectedModel, Inspection, inspect
from workbench.inspecting.reading import read_files

DEPLOYMENTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("deployments.yaml").read_text())


def inspected(deployment: dict[str, Any], folder: Path) -> Inspection:
    nodes = [node(f"node-{name}", name, gpus=gpus) for name, gpus in deployment["nodes"].items()]
    items = {"apiVersion": "v1", "kind": "List", "items": [*deployment["objects"], *nodes]}
    (folder / "objects.yaml").write_text(json.dumps(items))
    snapshot, unreadable = read_files([folder])
    assert unreadable == []
    return inspect(snapshot)


def shown(model: InspectedModel) -> dict[str, Any]:
    return {
        "engine": engines(model),
        "model": ", ".join(model.models) or "-",
        "parallel": parallelism(model),
        "gpus": model.accelerators,
        "owner": model.owner.text,
    }


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda each: each["name"])
def test_a_published_deployment_is_inspected(deployment: dict[str, Any], tmp_path: Path) -> None:
    result = inspected(deployment, tmp_path)
    found = {f"{model.identity[2]}/{model.title}": model for model in result.models}
    expected = deployment["models"]
    endpoints = {name: row.get("endpoint") for name, row in expected.items()}
    assert {name: shown(model) for name, model in found.items()} == {
        name: {key: value for key, value in row.items() if key != "endpoint"} for name, row in expected.items()
    }
    for name, endpoint in endpoints.items():
        assert endpoint is None or endpoint in found[name].endpoints
    rules = {str(problem.rule) for problem in result.all_findings if problem.severity != "note"}
    assert rules == set(deployment["findings"])


def test_ten_deployments_have_a_source() -> None:
    assert len(DEPLOYMENTS) >= 10
    assert all(each["source"] for each in DEPLOYMENTS)
