"""The table, the JSON document and the page of an inspection; names of a cluster are hostile input."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from components.contract.problems import Problem
from components.fleet.objects import Object
from tests.inspecting.objects import container, deployment, hpa, live, node, pod, service
from toolkit.screen import Screen
from workbench.inspecting.formats import InspectFormat, document, headline, text, write
from workbench.inspecting.inspection import Inspection, inspect
from workbench.inspecting.snapshot import ClusterSnapshot, Missing

SCHEMA = Path(__file__).parents[2] / "docs/inspect.schema.json"
HOSTILE = "\x1b[31mred\x1b[0m\u202etxt<script>alert(1)</script>"


def whole(model: str = "Qwen/Qwen2.5-7B-Instruct") -> Inspection:
    wrong = container(args=["--model", model, "--max-model-length", "1"])
    body = live(deployment("chat", wrong, replicas=2), replicas=2, readyReplicas=1)
    objects: list[Object] = [body, live(hpa(body, "nothing")), service("chat", "chat"), node("n", "g5.2xlarge")]
    objects += [pod(body, "chat-x", "n", wrong), live(deployment("idle", container(name="x")))]
    missing = (
        Missing("list", "", "services", "", "forbidden", "endpoints"),
        Missing("list", "keda.sh", "scaledobjects", "", "unavailable", "autoscalers of KEDA", denied=False),
    )
    return inspect(ClusterSnapshot(tuple(objects), missing, source="https://cluster", server_version="v1.36.3"))


def test_the_table_has_a_row_for_each_model() -> None:
    lines = text(whole()).splitlines()
    assert lines[1].split() == ["MODEL", "READY", "GPUS", "FITS", "$/MONTH"]
    assert lines[2].split() == ["models/Deployment/chat", "1/2", "2", "fits", "885"]
    assert "error[metrics-not-exported] models/HorizontalPodAutoscaler/chat" in lines


def test_details_have_everything_of_a_model() -> None:
    shown = text(whole(), details=True)
    for line in ("engine: vllm 0.9.0", "autoscaler: HorizontalPodAutoscaler/chat 1-4", "owner: by hand (kubectl)"):
        assert f"\n  {line}\n" in shown
    assert "endpoint: http://chat.models.svc.cluster.local:8000" in shown
    assert "--details" not in shown


@pytest.mark.parametrize("width", [80, 120])
def test_without_details_a_fleet_fits_a_screen(width: int) -> None:
    bodies = [live(deployment(f"chat-with-a-long-name-{n}", container(), replicas=2)) for n in range(40)]
    result = inspect(ClusterSnapshot((*bodies, node("n", "g5.2xlarge")), source="https://cluster"))
    lines = text(result, Screen(width)).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= width
    assert "and 28 more models (--details)" in lines
    assert lines[-1].startswith("0 errors") or "(--details: all models" in " ".join(lines[-2:])


@pytest.mark.parametrize(
    ("resource", "cell"),
    [
        ("nvidia.com/gpu", " 8 "),
        ("rebellions.ai/ATOM", "8 rebellions.ai/ATOM"),
        ("google.com/tpu", "8 google.com/tpu"),
    ],
)
def test_the_table_names_accelerators_that_are_no_gpus(resource: str, cell: str) -> None:
    body = live(deployment("chat", container(resources={"limits": {resource: "4"}}), replicas=2))
    (model,) = inspect(ClusterSnapshot((body,))).models
    shown = text(inspect(ClusterSnapshot((body,))))
    assert model.accelerators == 8
    assert cell in shown
    assert ("rebellions" in shown) is ("rebellions" in resource)
    if resource != "nvidia.com/gpu":
        assert f"memory (no figures on the memory use of servers on {resource})" in model.unchecked
    assert any(each.startswith("cost (") for each in model.unchecked)


def test_missing_rights_and_failures_are_named() -> None:
    shown = " ".join(text(whole()).split())
    assert "not read: needs the right to list services: endpoints" in shown
    assert "not read: failed to list scaledobjects.keda.sh (unavailable): autoscalers of KEDA" in shown


def test_the_headline_counts_models_and_costs() -> None:
    # g5.2xlarge costs 1.212 dollars an hour; the second model could run on the same type.
    assert headline(whole()) == "2 models, 3 accelerators, $1,769.52 a month; 2 errors"
    assert headline(inspect(ClusterSnapshot())) == "0 models, 0 accelerators; no errors"


def closed(schema: Any) -> Any:
    """Return a schema that allows no further keys."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {**{key: closed(value) for key, value in schema.items()}, **more}


@pytest.mark.parametrize(
    "inspection",
    [
        whole(),
        inspect(ClusterSnapshot()),
        inspect(ClusterSnapshot(), [Problem(file="a.yaml", line=1, path="", reason="no YAML")]),
    ],
    ids=["models", "empty", "unreadable"],
)
def test_the_document_follows_its_schema(inspection: Inspection) -> None:
    schema = json.loads(SCHEMA.read_text())
    found = json.loads(write(inspection, InspectFormat.JSON))
    assert list(jsonschema_rs.validator_for(closed(schema)).iter_errors(found)) == []
    for key in found:
        rest = {name: value for name, value in found.items() if name != key}
        assert not jsonschema_rs.is_valid(schema, rest), key
    assert jsonschema_rs.is_valid(schema, {**found, "added": 1})
    assert not jsonschema_rs.is_valid(schema, {**found, "models": [{}]})


def test_the_document_has_everything_of_a_model() -> None:
    found = document(whole())
    chat = found["models"][0]
    assert chat["resource"] == {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "models", "name": "chat"}
    assert chat["models"] == ["Qwen/Qwen2.5-7B-Instruct"]
    assert chat["replicas"] == {"desired": 2, "ready": 1}
    assert chat["workloads"][0]["parallelism"] == {"tensor": 1, "pipeline": 1, "data": 1, "pods": 1}
    assert chat["nodes"] == [{"instanceType": "g5.2xlarge", "capacity": "", "region": "us-east-1", "names": ["n"]}]
    assert chat["autoscalers"] == [{"kind": "HorizontalPodAutoscaler", "name": "chat", "minimum": 1, "maximum": 4}]
    assert chat["cost"]["usdPerHour"] == "1.212"
    assert chat["cost"]["usdPerMonth"] == "884.76"
    assert {each["rule"] for each in chat["findings"]} == {"flags-unknown", "metrics-not-exported", "start-window"}
    assert found["missing"][0] == {
        "verb": "list",
        "group": "",
        "resource": "services",
        "namespace": "",
        "denied": True,
        "reason": "forbidden",
        "unchecked": "endpoints",
    }


@pytest.mark.parametrize("form", InspectFormat)
def test_the_same_inspection_is_the_same_text(form: InspectFormat) -> None:
    assert write(whole(), form) == write(whole(), form)


@pytest.mark.parametrize("form", InspectFormat)
def test_names_of_a_cluster_cannot_control_a_terminal(form: InspectFormat) -> None:
    shown = write(whole(HOSTILE), form)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "<script>" not in shown or form is not InspectFormat.HTML
    if form is InspectFormat.JSON:
        assert json.loads(shown)["models"][0]["models"] == [HOSTILE]


def test_markup_of_the_table_library_is_text() -> None:
    assert "[bold]model[/bold]" in text(whole("[bold]model[/bold]"), details=True)


def test_values_that_look_like_secrets_are_masked() -> None:
    body = live(deployment("chat", container(env=[{"name": "HF_TOKEN", "value": "hf_" + "a1B2" * 9}])))
    result = inspect(ClusterSnapshot((body,), source="cluster"))
    assert {each.rule for each in result.models[0].findings} == {"security-secret-in-clear"}
    for form in InspectFormat:
        assert "a1B2a1B2" not in write(result, form)


def test_an_empty_cluster_is_a_result() -> None:
    empty = inspect(ClusterSnapshot(source="https://cluster"))
    assert text(empty) == "https://cluster: 0 models, 0 accelerators; no errors\n0 errors\n"
    assert "Nothing that serves a model was found" in write(empty, InspectFormat.HTML)
