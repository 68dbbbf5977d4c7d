"""Short ways to write manifests and to look at what they become."""

from pathlib import Path
from typing import Any

import yaml

from components import families
from components.contract.findings.ids import FINAL
from components.contract.load import LoadedResource
from components.contract.problems import Problem
from components.families import parse
from components.fleet.endpoints import Endpoint
from components.fleet.options import Options
from components.fleet.rendered import Fleet, Rendered
from components.fleet.words import WorkloadChoice
from components.fleet.workloads import Workload
from components.plan.rendering import render_fleet

Object = dict[str, Any]
SAMPLES = Path(__file__).parent / "families/llmaz/data/samples"
"""What upstream's samples exercise (llmaz spec 5), as small manifests."""
GPU: Object = {"name": "a10g", "limits": {"nvidia.com/gpu": 1}}


def open_model(
    name: str = "m",
    source: Object | str = "Qwen/Qwen2-0.5B",
    flavors: list[Object] | None = None,
    family: str = "qwen2",
) -> Object:
    """An OpenModel; ``source`` is a hub ID, a URI or the whole source."""
    if isinstance(source, str):
        source = {"uri": source} if "://" in source else {"modelHub": {"modelID": source}}
    spec: Object = {"familyName": family, "source": source}
    if flavors is not None:
        spec["inferenceConfig"] = {"flavors": flavors}
    return {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": name}, "spec": spec}


def playground(name: str = "p", model: str = "m", annotations: Object | None = None, **spec: Any) -> Object:
    """A Playground; further fields of its spec by their wire names."""
    if "modelClaims" not in spec and "modelClaim" not in spec:
        spec["modelClaim"] = {"modelName": model}
    metadata: Object = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": metadata,
        "spec": spec,
    }


def service(name: str = "s", model: str = "m", annotations: Object | None = None, **spec: Any) -> Object:
    """A Service with the simplest pod there is."""
    spec.setdefault("modelClaims", {"models": [{"name": model}]})
    spec.setdefault("workloadTemplate", {"workerTemplate": {"spec": {"containers": [runner()]}}})
    metadata: Object = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Service",
        "metadata": metadata,
        "spec": spec,
    }


def runner(**fields: Any) -> Object:
    """A container that serves the model."""
    return {"name": "model-runner", "image": "example.com/engine:v1", **fields}


def runtime(name: str = "own", **spec: Any) -> Object:
    """A BackendRuntime with one configuration without arguments."""
    spec.setdefault("image", "example.com/engine")
    spec.setdefault("version", "v1")
    spec.setdefault("recommendedConfigs", [{"name": "default"}])
    return {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "BackendRuntime",
        "metadata": {"name": name},
        "spec": spec,
    }


def read(document: Object) -> LoadedResource:
    """One document as a program hands it over; it must be valid."""
    manifests = families.objects([document])
    assert manifests.resources, list(map(str, manifests.problems))
    (loaded,) = manifests.resources
    return loaded


def fleet_of(*documents: Object, **options: Any) -> Fleet:
    """Read the documents as a file would be, and render them; they must be valid by themselves."""
    manifests = parse(yaml.safe_dump_all(documents, sort_keys=False), "fleet.yaml")
    assert not manifests.problems, list(map(str, manifests.problems))
    return render_fleet(manifests.resources, Options(**options))


def endpoint_of(item: Rendered) -> Endpoint:
    """The only endpoint of a resource."""
    (endpoint,) = item.endpoints
    return endpoint


def workload_of(item: Rendered) -> Workload:
    """The only workload of a resource."""
    (workload,) = item.workloads
    return workload


def objects(*documents: Object, **options: Any) -> dict[str, Object]:
    """The objects of documents without an error, by kind; kinds must be distinct."""
    fleet = fleet_of(*documents, **options)
    assert not errors(fleet), errors(fleet)
    found = [body for item in fleet.rendered for body in item.objects]
    by_kind = {body["kind"]: body for body in found}
    assert len(by_kind) == len(found), [body["kind"] for body in found]
    return by_kind


def pod(*documents: Object, **options: Any) -> Object:
    """The pod spec of the only workload."""
    template: Object = pod_template(*documents, **options)
    spec: Object = template["spec"]
    return spec


def pod_template(*documents: Object, **options: Any) -> Object:
    """The template of the only Deployment."""
    template: Object = objects(*documents, workload=WorkloadChoice.DEPLOYMENT, **options)["Deployment"]["spec"][
        "template"
    ]
    return template


def container(*documents: Object, **options: Any) -> Object:
    """The model runner of the only workload."""
    return next(c for c in pod(*documents, **options)["containers"] if c["name"] == "model-runner")


def errors(fleet: Fleet) -> list[Problem]:
    """What forbids the use of a fleet."""
    return [problem for problem in fleet.problems if problem.severity == "error"]


def warnings(fleet: Fleet) -> list[Problem]:
    """What works, but hardly as meant."""
    return [problem for problem in fleet.problems if problem.severity == "warning"]


def the_error(*documents: Object, **options: Any) -> Problem:
    """The only error of documents; what cannot be ignored is not rendered."""
    fleet = fleet_of(*documents, **options)
    found = errors(fleet)
    assert len(found) == 1, [str(p) for p in found]
    if found[0].rule in FINAL:
        assert not [item for item in fleet.rendered if item.source.resource.metadata.name == found[0].name]
    return found[0]
