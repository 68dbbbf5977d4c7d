"""One plan: a fault has the same path and reason, whichever way a manifest comes in."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from typer.testing import CliRunner

from components.resources.llmaz import OpenModel, Playground, Service
from components.resources.llmkube import InferenceService, Model
from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.model_fleet import ModelFleet
from stacks.environment import deploy as deploy_stack
from stacks.settings import declared_defaults, parse
from tests.plan.faults import A10G, CASES, GGUF, PLAYGROUNDS, Fault, pods
from tests.recorded import deploy
from workbench.cli import app

ROOT = Path(__file__).parents[2]
Found = set[tuple[str, str]]


def documents(kind: str, fault: Fault) -> list[dict[str, Any]]:
    """The manifests of a fault, in one namespace, so that every way in sees the same."""
    if kind == "InferenceService":
        api = "inference.llmkube.dev/v1alpha1"
        model = {"source": GGUF} | fault.model
        service = {"modelRef": "m"} | fault.spec
        return [document(api, "Model", "m", model), document(api, kind, "s", service)]
    model = {
        "familyName": "f",
        "source": {"modelHub": {"modelID": "a/b"}},
        "inferenceConfig": {"flavors": [A10G | fault.flavor]},
    }
    usual: dict[str, Any] = {"modelClaim": {"modelName": "m"}}
    if kind == "Service":
        usual = {"modelClaims": {"models": [{"name": "m"}]}, "workloadTemplate": {"workerTemplate": pods()}}
    served = document("inference.llmaz.io/v1alpha1", kind, "s", usual | fault.spec)
    return [document("llmaz.io/v1alpha1", "OpenModel", "m", model), served]


def document(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name} if kind == "OpenModel" else {"name": name, "namespace": "default"}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": copy.deepcopy(spec)}


def lines(text: str) -> Found:
    """Path and reason of every error line, ``place: Kind/name: path: reason``."""
    found = set()
    for line in text.splitlines():
        placed = ".yaml" in line or line.startswith("manifests[")
        subject, _, rest = line.partition(": ")[2].partition(": ") if placed else line.partition(": ")
        if "/" in subject and not line.startswith(("warning: ", "info: ")):
            path, _, reason = rest.partition(": ")
            found.add((path, _RULE.sub("", reason)))
    return found


_RULE = re.compile(r" \[[a-z-]+\]$")


def raised(program: Callable[[], None]) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        deploy(program)
    return str(caught.value)


def by_component(kind: str, fault: Fault) -> None:
    """Make the model and what serves it as components of a program."""
    if kind == "InferenceService":
        model = Model("m", {"source": GGUF, "namespace": "default", **fault.model})  # type: ignore[typeddict-item]
        InferenceService("s", {"model": model.manifest, "namespace": "default", **fault.args})  # type: ignore[typeddict-item]
        return
    declared = OpenModel("m", {"family_name": "f", "model_id": "a/b", "flavors": [A10G | fault.flavor]})  # type: ignore[list-item]
    if kind == "Service":
        args = {"model": declared.manifest, "worker_template": pods(), **fault.args}
        Service("s", args)  # type: ignore[arg-type]
    else:
        Playground("s", {"model": declared.manifest, **fault.args})  # type: ignore[typeddict-item]


@pytest.mark.parametrize(("kind", "fault"), CASES, ids=lambda value: getattr(value, "path", value))
def test_a_fault_has_one_path_and_reason(kind: str, fault: Fault, tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    manifests = documents(kind, fault)
    file.write_text(yaml.safe_dump_all(manifests))
    run = CliRunner().invoke
    validated = run(app, ["validate", str(file), "--output", "json"])
    problems = [p for p in json.loads(validated.stdout) if p["severity"] == "error"]
    expected = {(p["path"], p["reason"]) for p in problems}
    assert any(path == fault.path and fault.reason in reason for path, reason in expected), expected

    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("")
    defaults = declared_defaults(ROOT / "Pulumi.yaml")
    settings = {**defaults, "kubeconfig": str(kubeconfig), "models": [str(file)], "namespace": "default"}
    ways = {
        "render": lines(run(app, ["render", str(file)]).stderr),
        "explain": lines(str(run(app, ["explain", f"{kind}/s", str(file)]).exception)),
        "preview": lines(raised(lambda: deploy_stack(parse(settings, "Pulumi.test.yaml")))),
        "component": lines(raised(lambda: by_component(kind, fault))),
        "fleet of data": lines(raised(lambda: _fleet({"manifests": manifests}))),
        "fleet of files": lines(raised(lambda: _fleet({"files": [str(file)]}))),
    }
    assert {name: found for name, found in ways.items() if found != expected} == {}


def _fleet(args: dict[str, Any]) -> None:
    ModelFleet("fleet", {**args, "namespace": "default"})  # type: ignore[typeddict-item]


def test_arguments_name_the_property_of_each_problem() -> None:
    with pytest.raises(InvalidArguments) as caught:
        deploy(lambda: by_component("Playground", PLAYGROUNDS[0]))
    assert [error["property_path"] for error in caught.value.errors or ()] == [PLAYGROUNDS[0].path]


def test_there_are_at_least_thirty_faults() -> None:
    assert len(CASES) >= 30
