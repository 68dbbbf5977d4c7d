"""Short ways to write InferenceServices and Models, and to look at what they become."""

from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import yaml

from components.contract.findings.ids import FINAL
from components.contract.load import LoadedResource
from components.contract.problems import Problem
from components.families import parse
from components.fleet.rendered import Fleet, Rendered
from tests.fleets import errors, fleet_of, warnings

Object = dict[str, Any]
API = "inference.llmkube.dev/v1alpha1"
HTTP = "https://example.com/m.gguf"
KEY = "608d0e1313135e5b"
G5 = {"node.kubernetes.io/instance-type": "g5.12xlarge"}
EXISTS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
GPUS: Object = {"resources": {"gpu": 2}, "nodeSelector": G5}


def made(kind: str, name: str, spec: Object, namespace: str | None = "ns") -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}


def isvc(name: str = "svc", namespace: str | None = "ns", model: str = "m1", **spec: Any) -> Object:
    """An InferenceService; further fields of its spec by their wire names."""
    return made("InferenceService", name, {"modelRef": model, **spec}, namespace)


def model(name: str = "m1", source: str = HTTP, namespace: str | None = "ns", **spec: Any) -> Object:
    """A Model; further fields of its spec by their wire names."""
    return made("Model", name, {"source": source, **spec}, namespace)


def gpu(count: int = 1, accelerator: str = "cuda", **fields: Any) -> Object:
    """Hardware of a Model."""
    return {"accelerator": accelerator, "gpu": {"count": count, **fields}}


def load(*documents: Object) -> tuple[LoadedResource, ...]:
    """The documents as they are read; they must be valid by themselves."""
    manifests = parse(yaml.safe_dump_all(documents, sort_keys=False), "fleet.yaml")
    assert not manifests.problems, list(map(str, manifests.problems))
    return manifests.resources


def served(*documents: Object, **options: Any) -> Rendered:
    """The only InferenceService of documents without an error."""
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet), [str(p) for p in errors(fleet)]
    (item,) = [item for item in fleet.rendered if item.kind == "InferenceService"]
    return item


def objects(*documents: Object, **options: Any) -> dict[str, Object]:
    """The objects of the only InferenceService by kind; every one is valid."""
    bodies = served(*documents, **options).objects
    for body in bodies:
        kubernetes_validate.validate(body, "1.36", strict=True)
    return {body["kind"]: body for body in bodies}


def pod(*documents: Object, **options: Any) -> Object:
    spec: Object = objects(*documents, **options)["Deployment"]["spec"]["template"]["spec"]
    return spec


def container(*documents: Object, **options: Any) -> Object:
    (found,) = pod(*documents, **options)["containers"]
    return dict(found)


def problem(*documents: Object, severity: str = "error", **options: Any) -> Problem:
    """The only problem of a severity; what has an error that cannot be ignored is not rendered."""
    fleet = fleet_of(*documents, **options)
    found = errors(fleet) if severity == "error" else warnings(fleet)
    assert len(found) == 1, [str(p) for p in fleet.problems]
    rendered = [item for item in fleet.rendered if item.kind == "InferenceService"]
    assert bool(rendered) is (severity == "warning" or found[0].rule not in FINAL)
    return found[0]


def shared(fleet: Fleet) -> list[tuple[str, str, str]]:
    """What several may share, in order."""
    kinds = ("PriorityClass", "PersistentVolumeClaim")
    return [(i.kind, i.namespace, i.name) for i in fleet.rendered if i.kind in kinds]
