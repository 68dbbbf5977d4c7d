"""``workbench diff`` against a stand-in of the API server."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest
from typer.testing import CliRunner

from components.families import load
from components.fleet.objects import Object, copied
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from toolkit.kube import Kube, KubeError
from workbench.cli import app

SAMPLE = Path(__file__).parents[2] / "stacks/models/qwen-chat.yaml"
BODIES = [*render_fleet(load([SAMPLE]).resources, Options(namespace="default")).objects]
Edit = Callable[[Object], Any]


class Server:
    """Has the planned objects of a sample, with an edit."""

    def __init__(self, edit: Edit = lambda body: None, refused: str = "", status: int = 403) -> None:
        self.edit, self.refused, self.status = edit, refused, status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        if kind == self.refused:
            raise KubeError(self.status, "Forbidden", f"{kind} is refused")
        named = (copied(each) for each in BODIES if (each["kind"], each["metadata"]["name"]) == (kind, name))
        body: Object = next(named)
        self.edit(body)
        return body


def run(monkeypatch: pytest.MonkeyPatch, server: Server, *arguments: str) -> Any:
    monkeypatch.setattr(Kube, "from_kubeconfig", lambda *_: server)
    return CliRunner().invoke(app, ["diff", str(SAMPLE), "--kubeconfig", "k", *arguments])


def test_a_cluster_as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server())
    assert (ran.exit_code, ran.stdout) == (0, "The cluster is as planned.\n")


def _other_image(body: Object) -> None:
    if body["kind"] == "Deployment":
        body["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/\x1b[31mother:1"


def test_differences_are_shown_by_model(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server(_other_image))
    assert ran.exit_code == 1
    first, second = ran.stdout.splitlines()
    assert first == "default/Playground/qwen-chat"
    assert "spec.template.spec.containers[0].image: planned " in second
    assert "\x1b" not in ran.stdout


def test_differences_are_json(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server(_other_image), "--output", "json")
    (each,) = json.loads(ran.stdout)
    assert (each["kind"], each["model"], each["absent"], each["unread"]) == (
        "Deployment",
        "Playground/qwen-chat",
        False,
        "",
    )
    assert [field["path"] for field in each["fields"]] == ["spec.template.spec.containers[0].image"]


def test_what_must_not_be_read_is_no_silent_success(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server(refused="Deployment"))
    assert ran.exit_code == 1
    assert "not compared: Deployment is refused" in ran.stdout


def test_what_does_not_exist_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server(refused="Service", status=404))
    assert ran.exit_code == 1
    assert "is not in the cluster" in ran.stdout
