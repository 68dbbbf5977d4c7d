"""The table at the end of ``up``: what is wanted beside what is there, and why the two differ."""

import json
import shlex
from dataclasses import replace
from typing import Any

import pytest

from toolkit.screen import Message, Screen, columns_of
from workbench.deploying.status import ClusterStatus
from workbench.deploying.tables import StackReport, cost_details, cost_in_words, stack_lines

CHAT = {"model": "opt", "workloadKind": "Deployment", "workload": "chat", "namespace": "models"}
OUTPUTS: dict[str, Any] = {
    "models": {"chat": CHAT},
    "endpoints": {"chat": {"url": "http://chat-lb.models:8080", "api": "openai"}},
    "nodes": {"g5-2xlarge": {"instanceType": "g5.2xlarge", "nodes": 1, "accelerators": 1}},
}


def report(outputs: dict[str, Any] | None = None, *, nodes: int | None = None, **pods: Any) -> StackReport:
    """A report of a stack, whose cluster has some ready nodes and pods by workload; none without a cluster."""
    status = ClusterStatus()
    if nodes is not None or pods:
        status.reachable, status.nodes = True, {"g5.2xlarge": nodes or 0}
        status.pods = {("Deployment", "models", name): count for name, count in pods.items()}
    return StackReport("local", outputs or OUTPUTS, "kubeconfig", status=status)


def shown(found: StackReport, *, details: bool = False, width: int = 80) -> list[str]:
    return stack_lines(found, Screen(width), details=details)


def row(lines: list[str], start: str) -> list[str]:
    (found,) = [line for line in lines if line.startswith(f"{start} ")]
    return found.split()


@pytest.mark.parametrize(("ready", "explained"), [(8, True), (1, False), (0, False), (None, False)])
def test_more_nodes_than_are_needed_are_explained(ready: int | None, explained: bool) -> None:
    lines = shown(report(nodes=ready), details=True)
    assert row(lines, "g5-2xlarge") == ["g5-2xlarge", "g5.2xlarge", "1", "-" if ready is None else str(ready), "1"]
    assert ("steps of eight" in " ".join(lines)) == explained


def test_nodes_and_costs_are_details() -> None:
    lines = shown(report(nodes=8))
    assert not any("g5" in line for line in lines)
    assert lines[-1] == "(--details: nodes, costs, addresses in the cluster, each changed resource)"


def test_findings_follow_a_blank_line_and_notes_are_counted_without_a_second_one() -> None:
    note = Message(severity="note", rule="start-window", place="models.yaml:1", cause="serves late")
    counted = [
        "",
        "0 errors, 1 note (--details: notes, nodes, costs, addresses in the cluster, each",
        "changed resource)",
    ]
    for found in (report(), report(chat=(1, 1))):
        assert stack_lines(found, Screen(80), [note], details=False) == [*shown(found)[:-2], *counted]
    error = replace(note, severity="error")
    lines = stack_lines(report(), Screen(80), [error], details=False)
    start = lines.index("error[start-window] models.yaml:1")
    assert (lines[start - 2].split()[0], lines[start - 1]) == ("chat", "")


def test_what_only_a_cluster_knows_has_no_column_without_one() -> None:
    lines = shown(report())
    assert lines[0].split() == ["MODEL", "$/MONTH", "ADDRESS"]
    assert row(lines, "chat") == ["chat", "-", "http://chat-lb.models:8080"]
    assert not any("KUBECONFIG" in line for line in shown(report(), details=True))


def test_a_cluster_tells_the_ready_replicas() -> None:
    lines = shown(report(chat=(1, 2)))
    assert lines[0].split() == ["MODEL", "READY", "$/MONTH", "ADDRESS"]
    assert row(lines, "chat") == ["chat", "1/2", "-", "http://chat-lb.models:8080"]


@pytest.mark.parametrize(
    ("fit", "memory"),
    [
        ("fits: 18.3 of 19.8 GiB on g6.xlarge", "fits: 18.3 of 19.8 GiB on g6.xlarge"),
        ("not checked: the model org/m is not known; describe it in modelShapes", "not checked"),
        (None, "-"),
    ],
)
def test_memory_stands_last_and_is_short(fit: str | None, memory: str) -> None:
    models = {"chat": {**CHAT, **({"fit": fit} if fit else {})}}
    lines = shown(report({**OUTPUTS, "models": models}), details=True)
    assert any(line.startswith("chat ") and line.endswith(f"Deployment/chat        -  {memory}") for line in lines)


@pytest.mark.parametrize(
    ("found", "ready"),
    [
        ({}, []),
        ({"p-0-lead-0": (None, 1), "p-1-lead-0": (None, 1)}, ["accepted", "(2)"]),
        ({"p-0-lead-0": (1, 1), "p-1-lead-0": (0, 1), "p-2-lead-0": (1, 1)}, ["2/3"]),
        ({"p-0-lead-0": (1, 1), "p-1-lead-0": (None, 1)}, ["1/2"]),
    ],
)
def test_workloads_that_are_one_to_clients_are_one_row(
    found: dict[str, tuple[int | None, int]], ready: list[str]
) -> None:
    parts = ["p-0-lead-0", "p-1-lead-0", "p-2-lead-0"]
    model = {"model": "opt", "workloadKind": "LeaderWorkerSet", "workload": "p-lead", "namespace": "models"}
    several = report({"models": {"p": {**model, "parts": parts}}})
    several.status.pods = {("LeaderWorkerSet", "models", name): count for name, count in found.items()}
    assert row(shown(several), "p") == ["p", *ready, "-", "no", "answer"]
    assert any("LeaderWorkerSet/p-0-lead-0 and 2 more" in line for line in shown(several, details=True, width=200))


def test_an_address_is_whole_whatever_stands_beside_it() -> None:
    url = f"http://{'a' * 60}.models.svc.cluster.local:8080/v1"
    model = {"model": "m" * 40, "workloadKind": "LeaderWorkerSet", "workload": "w" * 60, "namespace": "models"}
    outputs = {"models": {"p": {**model, "fit": "fits: " * 40}}, "endpoints": {"p": {"url": url, "api": "openai"}}}
    assert any(line.endswith(url) for line in shown(report(outputs), details=True))
    assert any(line.endswith(f"http://{'a' * 60}.models:8080/v1") for line in shown(report(outputs)))


def test_an_endpoint_beside_the_models_has_a_row() -> None:
    """An adapter, or a route to models of other names."""
    more = {"url": "http://chat-lb.models:8080", "api": "openai", "model": "sql"}
    found = report({**OUTPUTS, "endpoints": {**OUTPUTS["endpoints"], "chat-lora-sql": more}}, chat=(1, 1))
    assert row(shown(found), "chat-lora-sql") == ["chat-lora-sql", "-", "-", "http://chat-lb.models:8080"]
    assert list(found.facts()) == ["1 model ready"]


@pytest.mark.parametrize("url", [None, "", "[unknown]"])
def test_where_no_address_is_known_that_of_the_cluster_is_shown(url: str | None) -> None:
    """A load balancer that never comes: nobody plays the cloud's."""
    endpoint = {"url": url, "clusterUrl": "http://chat-lb.models:8080/v1", "api": "openai"}
    lines = shown(report({**OUTPUTS, "endpoints": {"chat": endpoint}}))
    assert row(lines, "chat")[-1] == "http://chat-lb.models:8080/v1"


def many(count: int) -> dict[str, Any]:
    names = [f"support-llama3-8b-{number:03}" for number in range(count)]
    return {
        "models": {name: {**CHAT, "workload": name} for name in names},
        "endpoints": {
            name: {"url": f"http://{name}-lb.models.svc.cluster.local:8080/v1", "api": "openai"} for name in names
        },
    }


def test_of_many_models_those_that_are_not_ready_come_first_and_the_others_are_counted() -> None:
    ready: dict[str, Any] = {f"support-llama3-8b-{number:03}": (int(number != 290), 1) for number in range(300)}
    found = report(many(300), **ready)
    lines = shown(found)
    assert len(lines) <= 24
    assert lines[1].startswith("support-llama3-8b-290  0/1")
    assert "and 288 more (--details)" in lines
    assert list(found.facts()) == ["299 of 300 models ready"]
    assert len([line for line in shown(found, details=True) if line.endswith("-lb.models:8080/v1")]) == 300


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    lines = shown(report(many(30), nodes=8), width=width)
    assert max(map(columns_of, lines)) <= width


def test_a_model_in_a_real_cluster_is_called_through_a_port_of_this_machine() -> None:
    service = {"url": "http://chat-lb.models.svc.cluster.local:8080/v1", "api": "openai", "model": "opt"}
    lines = shown(report({**OUTPUTS, "endpoints": {"chat": service}}, chat=(1, 1)))
    start = lines.index("Call chat:")
    assert lines[start + 1 : start + 3] == [
        "  kubectl --kubeconfig kubeconfig -n models \\",
        "    port-forward service/chat-lb 8080 &",
    ]
    # As a shell reads it: a backslash joins two lines.
    words = shlex.split("\n".join(lines[start + 3 : -2]).replace("\\\n", " "))
    assert words[:2] == ["curl", "http://127.0.0.1:8080/v1/chat/completions"]
    assert json.loads(words[-1])["model"] == "opt"


def test_a_simulated_cluster_without_a_live_fleet_answers_no_call() -> None:
    service = {"url": "http://chat-lb.models.svc.cluster.local:8080/v1", "api": "openai", "model": "opt"}
    outputs = {**OUTPUTS, "endpoints": {"chat": service}, "cost": {"region": ""}}
    assert not any(line.startswith("Call") for line in shown(report(outputs, chat=(1, 1))))


_MONTH = {"now": 1234.5, "min": 1000.0, "max": 1234567.891}


def test_the_cost_of_a_month_is_in_whole_dollars_and_rounded_half_up() -> None:
    cost = {"models": {"m": {}}, "usdPerMonth": _MONTH, "region": "eu-west-1", "date": "2026-07-20", "unpriced": []}
    assert cost_in_words(cost) == "$1,235 a month (at most $1,234,568)"
    assert list(cost_details(cost)) == [
        "Cost: $1,235 a month now, $1,000 at least and $1,234,568 at most (eu-west-1, prices of 2026-07-20)."
    ]


def test_a_cost_without_bounds_is_one_figure() -> None:
    month = {"now": 884.76, "min": 884.76, "max": 884.76}
    cost = {"models": {"m": {}}, "usdPerMonth": month, "region": "eu-west-1", "date": "2026-07-20"}
    assert cost_in_words(cost) == "$885 a month"
    assert list(cost_details(cost)) == ["Cost: $885 a month (eu-west-1, prices of 2026-07-20)."]


def test_a_line_names_what_has_no_price() -> None:
    cost = {"models": {"m": {}}, "usdPerMonth": _MONTH, "region": "r", "date": "d", "unpriced": ["NAT", "b"]}
    assert "Without a price: NAT, b." in cost_details(cost)


def test_simulated_nodes_cost_nothing_now() -> None:
    month = {"now": 884.76, "min": 884.76, "max": 884.76}
    cost = {"models": {"m": {}}, "modelsUsdPerMonth": month, "usdPerMonth": {}, "region": "", "date": "2026-07-20"}
    assert cost_in_words(cost) == "$0 now ($885 a month on AWS)"
    assert list(cost_details(cost)) == ["Cost on AWS: $885 a month (on demand in us-east-1, prices of 2026-07-20)."]


def test_without_models_there_is_no_cost() -> None:
    assert cost_in_words({}) == ""
    assert list(cost_details({})) == []


def test_nodes_in_reserve_are_not_counted() -> None:
    live = ClusterStatus()
    for number, held in enumerate([False, True]):
        live._count_node(
            {
                "metadata": {"name": f"n-{number}", "labels": {"node.kubernetes.io/instance-type": "g5.2xlarge"}},
                "spec": {"unschedulable": True} if held else {},
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }
        )
    assert live.nodes == {"g5.2xlarge": 1}
