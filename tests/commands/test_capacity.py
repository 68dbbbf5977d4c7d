"""``workbench dev capacity`` against an API server that answers with a status, or with none."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from typer.testing import CliRunner

from tests.clouds.aws.nodes.test_capacity import STATUS
from toolkit.kube import Kube, KubeError
from workbench import capacity
from workbench.cli import app
from workbench.errors import WorkbenchError

IDLE = "autoscalerStatus: Running\nnodeGroups: []\n"


class Server:
    """Answers with one status after another; the last one stays."""

    def __init__(self, *answers: str | KubeError) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[Any, ...]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def get(self, *what: Any) -> dict[str, Any]:
        self.asked.append(what)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, KubeError):
            raise answer
        return {"data": {"status": answer}}


@contextmanager
def answering(monkeypatch: pytest.MonkeyPatch, *answers: str | KubeError) -> Iterator[Server]:
    server = Server(*answers)
    monkeypatch.setattr(Kube, "from_kubeconfig", lambda _: server)
    monkeypatch.setattr(capacity, "_POLL_SECONDS", 0.0)
    yield server


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["capacity", "--kubeconfig", "k", *arguments])


def test_what_is_missing_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(monkeypatch, STATUS) as server:
        ran = run("--namespace", "scaling")
    assert ran.exit_code == 1
    assert "eks-p4d: 0 of 1 nodes are ready; EC2 launches no more" in ran.stdout
    assert server.asked == [("v1", "ConfigMap", "cluster-autoscaler-status", "scaling")]


def test_nothing_missing_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(monkeypatch, IDLE):
        ran = run()
    assert (ran.exit_code, ran.stdout.strip()) == (
        0,
        "All node groups have the nodes that the Cluster Autoscaler requests.",
    )


def test_it_waits_until_all_nodes_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(monkeypatch, STATUS, STATUS, IDLE) as server:
        ran = run("--wait", "30")
    assert ran.exit_code == 0
    assert len(server.asked) == 3
    assert "waiting for 3 node groups with missing nodes: eks-g5" in ran.stderr


def test_for_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(monkeypatch, STATUS):
        found = json.loads(run("--output", "json").stdout)
    assert [(each["group"], each["ready"], each["wanted"], each["no_instances"]) for each in found] == [
        ("eks-g5", 1, 3, False),
        ("eks-g6", 2, 3, False),
        ("eks-p4d", 0, 1, True),
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (KubeError(404, "NotFound", "not found"), "ConfigMap kube-system/cluster-autoscaler-status does not exist"),
        (KubeError(403, "Forbidden", "may not get it"), "cannot be read: may not get it"),
        ("text for people", "is no status of a Cluster Autoscaler"),
    ],
    ids=["none", "forbidden", "another form"],
)
def test_without_a_status_it_says_why(
    answer: str | KubeError, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with answering(monkeypatch, answer), pytest.raises(WorkbenchError, match=expected):
        capacity.capacity(tmp_path)
