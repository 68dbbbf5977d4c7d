"""Workloads that others published (``published.yaml``): each is found, with its engine, model, GPUs and endpoint."""

from pathlib import Path
from typing import Any

import yaml

from components.fleet.objects import Object
from workbench.inspecting.formats import accelerators, engines
from workbench.inspecting.inspection import InspectedModel, inspect
from workbench.inspecting.snapshot import ClusterSnapshot

PUBLISHED: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("published.yaml").read_text())


def _container(facts: dict[str, Any], number: int) -> Object:
    devices = {key: str(amount) for key, amount in facts.get("devices", {}).items()}
    made: Object = {
        "name": f"c{number}",
        **{key: facts[key] for key in ("image", "command", "args", "envFrom") if key in facts},
        "env": [{"name": name, "value": value} for name, value in facts.get("env", {}).items()],
        "ports": [{"containerPort": port} for port in facts.get("ports", ())],
    }
    return {**made, "resources": {"limits": devices}} if devices else made


def _template(containers: list[dict[str, Any]], labels: dict[str, str]) -> Object:
    return {
        "metadata": {"labels": labels},
        "spec": {"containers": [_container(facts, number) for number, facts in enumerate(containers)]},
    }


def _workload(row: dict[str, Any], namespace: str) -> Object:
    kind, labels = row.get("kind", "Deployment"), row["labels"]
    spec: Object = {"replicas": row.get("replicas", 1)}
    if kind == "LeaderWorkerSet":
        spec["leaderWorkerTemplate"] = {
            "size": row["size"],
            "leaderTemplate": _template(row["containers"], labels),
            "workerTemplate": _template(row["workers"], {}),
        }
    else:
        spec |= {"selector": {"matchLabels": labels}, "template": _template(row["containers"], labels)}
    api = "leaderworkerset.x-k8s.io/v1" if kind == "LeaderWorkerSet" else "apps/v1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": row["name"], "namespace": namespace}, "spec": spec}


def published_objects(row: dict[str, Any], namespace: str) -> list[Object]:
    """Return the manifests of a published workload."""
    bodies = [row["object"]] if "object" in row else [_workload(row, namespace)]
    if "service" in row:
        service = row["service"]
        spec = {"selector": service.get("selector", row["labels"]), "ports": [{"port": service["port"]}]}
        bodies.append({"apiVersion": "v1", "kind": "Service", "metadata": {"name": service["name"]}, "spec": spec})
    bodies += row.get("more", ())
    is_wide = {"ClusterServingRuntime"}
    return [
        body if body["kind"] in is_wide else {**body, "metadata": {**body["metadata"], "namespace": namespace}}
        for body in bodies
    ]


def _shown(model: InspectedModel) -> dict[str, str]:
    namespace = model.identity[2]
    endpoint = next(iter(model.endpoints), "-")
    return {
        "engine": ", ".join(dict.fromkeys(name.split()[0] for name in engines(model).split(", "))),
        "model": ", ".join(model.models) or "-",
        "accelerators": accelerators(model),
        "endpoint": endpoint.removeprefix("http://").replace(f".{namespace}.svc.cluster.local", ""),
        "autoscaler": ", ".join(scaler.text for scaler in model.autoscalers) or "-",
    }


def results() -> tuple[list[str], list[str]]:
    """Return the sources that are not found, and the fields that are not right, by source."""
    namespaces = [f"n{number}" for number in range(len(PUBLISHED))]
    rows = zip(PUBLISHED, namespaces, strict=True)
    bodies = [body for row, namespace in rows for body in published_objects(row, namespace)]
    found: dict[str, list[InspectedModel]] = {}
    for model in inspect(ClusterSnapshot(tuple(bodies))).models:
        found.setdefault(model.identity[2], []).append(model)
    missing, wrong = [], []
    for row, namespace in zip(PUBLISHED, namespaces, strict=True):
        models = found.get(namespace, [])
        if len(models) != 1:
            missing.append(f"{row['source']}: {[model.title for model in models]}")
            continue
        shown = _shown(models[0])
        faults = [
            f"{key} {shown[key]!r}, not {value!r}" for key, value in row["expect"].items() if shown[key] != value
        ]
        if faults:
            wrong.append(f"{row['source']}: {'; '.join(faults)}")
    return missing, wrong


def test_published_workloads_are_found_and_right() -> None:
    missing, wrong = results()
    assert missing == []
    assert wrong == []


def test_the_workloads_have_many_sources() -> None:
    assert len(PUBLISHED) >= 70
    assert len({row["source"].split()[0] for row in PUBLISHED}) >= 35
