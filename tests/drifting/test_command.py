"""``workbench diff`` against a stand-in of the API server."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest
from typer.testing import CliRunner

from components.families import load
from components.fleet.objects import Object, copied
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from tests import preloaded
from toolkit.kube import Kube, KubeError
from workbench.cli import app
from workbench.errors import WorkbenchError

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "stacks/models/qwen-chat.yaml"
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
        return self._live(kind, name)

    def apply(self, *_: object, **__: object) -> Object:
        raise KubeError(403, "Forbidden", "the user may only read")

    def _live(self, kind: str, name: str) -> Object:
        named = (copied(each) for each in BODIES if (each["kind"], each["metadata"]["name"]) == (kind, name))
        body: Object = next(named)
        self.edit(body)
        return body


def run(monkeypatch: pytest.MonkeyPatch, server: Server, *arguments: str) -> Any:
    monkeypatch.setattr(Kube, "from_kubeconfig", lambda *_: server)
    return CliRunner().invoke(app, ["diff", str(SAMPLE), "--stack", "none", "--kubeconfig", "k", *arguments])


def test_a_cluster_as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server())
    assert (ran.exit_code, ran.stdout) == (0, "The cluster is as planned.\n")


def _other_image(body: Object) -> None:
    if body["kind"] == "Deployment":
        body["spec"]["template"]["spec"]["containers"][0]["image"] = "example.com/\x1b[31mother:1"


def test_differences_are_shown_by_model(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server(_other_image))
    assert ran.exit_code == 1
    lines = ran.stdout.splitlines()
    assert lines[:2] == ["1 object differs from the plan in 1 field", "default/Playground/qwen-chat"]
    shown = " ".join(ran.stdout.split())
    assert "Deployment default/qwen-chat: spec.template.spec.containers[0].image: planned " in shown
    assert "\x1b" not in ran.stdout


def _many_labels(body: Object) -> None:
    body["metadata"]["labels"] = {}
    if body["kind"] == "Deployment":
        for number, variable in enumerate(body["spec"]["template"]["spec"]["containers"][0]["args"]):
            body["spec"]["template"]["spec"]["containers"][0]["args"][number] = f"{variable}{'x' * 100}"
        body["spec"]["template"]["metadata"]["labels"] = {}


def test_a_value_and_a_list_are_cut_without_details(monkeypatch: pytest.MonkeyPatch) -> None:
    brief = run(monkeypatch, Server(_many_labels)).stdout
    assert max(map(len, brief.splitlines())) <= 80
    assert len(brief.splitlines()) <= 40
    assert brief.endswith("(--details: whole values)\n")
    assert "x" * 61 not in "".join(brief.split())
    whole = run(monkeypatch, Server(_many_labels), "--details").stdout
    assert "x" * 100 in "".join(whole.split())
    assert "--details" not in whole


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
    assert "not compared: Deployment is refused" in ran.stdout
    assert isinstance(ran.exception, WorkbenchError)
    assert (ran.exception.exit_code, str(ran.exception)) == (
        2,
        "objects that could not be compared: 1; the reasons are in the report",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([str(SAMPLE)], "the cluster cannot be read: the API server https://127.0.0.1:1 does not respond"),
        (["not-a-kind.yaml"], "apiVersion: is required"),
        ([str(SAMPLE), "--stack", "absent"], "Pulumi.yaml does not exist"),
        ([str(SAMPLE), "--kubeconfig", "none"], "there is no kubeconfig at none"),
        ([str(SAMPLE), "--no-such-option"], "unknown option"),
    ],
)
def test_an_error_is_no_difference(arguments: list[str], message: str, tmp_path: Path) -> None:
    """As of `kubectl diff` and `terraform plan -detailed-exitcode`: 1 is never an error."""
    cluster = {"name": "a", "cluster": {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}}
    kubeconfig = {
        "clusters": [cluster],
        "users": [{"name": "a", "user": {"token": "t"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "current-context": "a",
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig))
    (tmp_path / "not-a-kind.yaml").write_text("kind: x\n")
    env = {**os.environ, "KUBECONFIG": "kubeconfig", "PYTHONPATH": str(ROOT)}
    done = preloaded.run("diff", *arguments, cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_what_does_not_exist_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(monkeypatch, Server(refused="Service", status=404))
    assert ran.exit_code == 1
    assert "is not in the cluster" in ran.stdout


SECRETS = [
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "default"},
        "stringData": {"k": "v1"},
    }
    for name in ("one", "two")
]


@pytest.mark.parametrize(("edit", "code"), [(lambda body: None, 0), (_other_image, 1)])
def test_secrets_that_the_user_may_not_read_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, edit: Edit, code: int
) -> None:
    (tmp_path / "secrets.yaml").write_text("\n---\n".join(map(json.dumps, SECRETS)))
    arguments = (str(tmp_path / "secrets.yaml"), "--other-kinds", "apply")
    ran = run(monkeypatch, Server(edit, refused="Secret"), *arguments)
    *rest, last, further = ran.stdout.splitlines()
    assert ran.exit_code == code
    assert f"{last} {further.strip()}" == (
        "not compared, needs the right to get secrets in namespace default: Secret default/one, Secret default/two"
    )
    assert (rest == ["What was compared is as planned."]) is (code == 0)
    assert "v1" not in ran.stdout
    document = json.loads(run(monkeypatch, Server(edit, refused="Secret"), *arguments, "--output", "json").stdout)
    assert [each["unread"] for each in document if each["kind"] == "Secret"] == [
        "needs the right to get secrets in namespace default"
    ] * 2


def test_a_server_that_fails_to_return_a_secret_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(json.dumps(SECRETS[0]))
    server = Server(refused="Secret", status=500)
    ran = run(monkeypatch, server, str(tmp_path / "secret.yaml"), "--other-kinds", "apply")
    assert isinstance(ran.exception, WorkbenchError)
    assert ran.exception.exit_code == 2
