"""The table at the end of ``up``: what is wanted beside what is there, and why the two differ."""

import io
from typing import Any

import pytest
from rich.console import Console

from workbench.deploying import tables as table

OUTPUTS: dict[str, Any] = {
    "models": {"chat": {"model": "opt", "workloadKind": "Deployment", "workload": "chat", "namespace": "models"}},
    "endpoints": {"chat": {"url": "http://chat-lb.models:8080", "api": "openai"}},
    "nodes": {"g5-2xlarge": {"instanceType": "g5.2xlarge", "nodes": 1, "accelerators": 1}},
}


def shown(monkeypatch: pytest.MonkeyPatch, ready: int | None) -> str:
    live = table._ClusterStatus()
    if ready is not None:
        live.reachable, live.nodes = True, {"g5.2xlarge": ready}
    monkeypatch.setattr(table._ClusterStatus, "read", lambda *_: live)
    out = io.StringIO()
    table.show(OUTPUTS, "kubeconfig", Console(file=out, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize(("ready", "explained"), [(8, True), (1, False), (0, False), (None, False)])
def test_more_nodes_than_are_needed_are_explained(
    monkeypatch: pytest.MonkeyPatch, ready: int | None, explained: bool
) -> None:
    text = shown(monkeypatch, ready)
    (row,) = [line.split() for line in text.splitlines() if line.startswith(" g5-2xlarge")]
    assert row == ["g5-2xlarge", "g5.2xlarge", "1", "-" if ready is None else str(ready), "1"]
    assert ("Simulated nodes are created in steps of eight" in text) == explained


def test_a_plan_has_every_column_but_what_only_a_cluster_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, None)
    (row,) = [line.split() for line in text.splitlines() if line.startswith(" chat")]
    assert row == ["chat", "opt", "Deployment/chat", "-", "http://chat-lb.models:8080", "openai", "-"]
    assert "KUBECONFIG" not in text


@pytest.mark.parametrize(
    ("fit", "memory"),
    [
        ("fits: 18.3 of 19.8 GiB on g6.xlarge", "fits: 18.3 of 19.8 GiB on g6.xlarge"),
        ("not checked: the model org/m is not known; describe it in modelShapes", "not checked"),
        (None, "-"),
    ],
)
def test_memory_stands_last_and_is_short(monkeypatch: pytest.MonkeyPatch, fit: str | None, memory: str) -> None:
    monkeypatch.setattr(table._ClusterStatus, "read", lambda *_: table._ClusterStatus())
    out = io.StringIO()
    models = {"chat": {**OUTPUTS["models"]["chat"], **({"fit": fit} if fit else {})}}
    table.show({**OUTPUTS, "models": models}, "kubeconfig", Console(file=out, highlight=False, width=200))
    (row,) = [line for line in out.getvalue().splitlines() if line.startswith(" chat")]
    assert row.rstrip().endswith(f"openai  {memory}")


@pytest.mark.parametrize(
    ("found", "ready"),
    [
        ({}, "-"),
        ({"p-0-lead-0": (None, 1), "p-1-lead-0": (None, 1)}, "accepted (2)"),
        ({"p-0-lead-0": (1, 1), "p-1-lead-0": (0, 1), "p-2-lead-0": (1, 1)}, "2/3"),
        ({"p-0-lead-0": (1, 1), "p-1-lead-0": (None, 1)}, "1/2"),
    ],
)
def test_workloads_that_are_one_to_clients_are_one_row(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, tuple[int | None, int]], ready: str
) -> None:
    live = table._ClusterStatus()
    live.pods = {("LeaderWorkerSet", "models", name): count for name, count in found.items()}
    monkeypatch.setattr(table._ClusterStatus, "read", lambda *_: live)
    out = io.StringIO()
    parts = ["p-0-lead-0", "p-1-lead-0", "p-2-lead-0"]
    model = {"model": "opt", "workloadKind": "LeaderWorkerSet", "workload": "p-lead", "namespace": "models"}
    table.show({"models": {"p": {**model, "parts": parts}}}, "kubeconfig", Console(file=out, highlight=False))
    (row,) = [line for line in out.getvalue().splitlines() if line.startswith(" p ")]
    assert "LeaderWorkerSet/p-0-lead-0 and 2 more" in row
    assert f" {ready} " in row


def test_an_address_is_whole_in_a_log_whatever_stands_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table._ClusterStatus, "read", lambda *_: table._ClusterStatus())
    out = io.StringIO()
    url = f"http://{'a' * 60}.models.svc.cluster.local:8080/v1"
    model = {"model": "m" * 40, "workloadKind": "LeaderWorkerSet", "workload": "w" * 60, "namespace": "models"}
    outputs = {"models": {"p": {**model, "fit": "fits: " * 40}}, "endpoints": {"p": {"url": url, "api": "openai"}}}
    table.show(outputs, "kubeconfig", Console(file=out, highlight=False))
    assert url in out.getvalue()


def test_an_endpoint_beside_the_models_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter, or a route to models of other names."""
    monkeypatch.setattr(table._ClusterStatus, "read", lambda *_: table._ClusterStatus())
    out = io.StringIO()
    more = {"url": "http://chat-lb.models:8080", "api": "openai", "model": "sql"}
    endpoints = {"chat": {"url": "http://chat-lb.models:8080", "api": "openai"}, "chat-lora-sql": more}
    outputs = {**OUTPUTS, "endpoints": endpoints}
    table.show(outputs, "kubeconfig", Console(file=out, highlight=False, width=200))
    (row,) = [line.split() for line in out.getvalue().splitlines() if line.startswith(" chat-lora-sql")]
    assert row == ["chat-lora-sql", "sql", "-", "-", "http://chat-lb.models:8080", "openai", "-"]


@pytest.mark.parametrize("url", [None, "", "[unknown]"])
def test_where_no_address_is_known_that_of_the_cluster_is_shown(
    monkeypatch: pytest.MonkeyPatch, url: str | None
) -> None:
    """A load balancer that never comes: nobody plays the cloud's."""
    monkeypatch.setattr(table._ClusterStatus, "read", lambda *_: table._ClusterStatus())
    out = io.StringIO()
    endpoint = {"url": url, "clusterUrl": "http://chat-lb.models:8080/v1", "api": "openai"}
    outputs = {**OUTPUTS, "endpoints": {"chat": endpoint}}
    table.show(outputs, "kubeconfig", Console(file=out, highlight=False, width=200))
    (row,) = [line.split() for line in out.getvalue().splitlines() if line.startswith(" chat")]
    assert row[4] == "http://chat-lb.models:8080/v1"


def test_nodes_in_reserve_are_not_counted() -> None:
    live = table._ClusterStatus()
    for number, held in enumerate([False, True]):
        live._count_node(
            {
                "metadata": {"name": f"n-{number}", "labels": {"node.kubernetes.io/instance-type": "g5.2xlarge"}},
                "spec": {"unschedulable": True} if held else {},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }
        )
    assert live.nodes == {"g5.2xlarge": 1}
