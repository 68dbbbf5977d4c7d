"""Objects as people apply them, on a real API server."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from components.contract.schema.crds import crd
from components.families import kinds
from toolkit.kube import Kube
from workbench.adopting.project import project_files, write
from workbench.adopting.reading import ReadAdoption, read_adoption
from workbench.cluster.cluster import Running
from workbench.deploying.call import Deployer, StackCall
from workbench.engine.display import Display
from workbench.engine.local import Outcome
from workbench.inspecting.reading import read_cluster

Object = dict[str, Any]
KUBECTL, EDIT, HELM, ARGO = "kubectl-client-side-apply", "kubectl-edit", "helm", "argocd-controller"
PROGRAM = "from stacks.program import run\n\nrun()\n"
MODELS = Path(__file__).parents[2] / "stacks/models"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MERGE = "application/merge-patch+json"


def install_kinds(kube: Kube) -> None:
    """Install the CustomResourceDefinitions of all families; their operators stay absent."""
    for kind in kinds():
        kube.apply(crd(kind), manager="test")


def client_side(kube: Kube, body: Object) -> Object:
    """Create an object as `kubectl apply` does."""
    copied = copy.deepcopy(body)
    text = json.dumps(body)
    copied["metadata"].setdefault("annotations", {})[_LAST_APPLIED] = text + "\n"
    return created(kube, copied, KUBECTL)


def by_helm(kube: Kube, body: Object) -> Object:
    """Create an object as Helm does."""
    copied = copy.deepcopy(body)
    copied["metadata"].setdefault("labels", {})["app.kubernetes.io/managed-by"] = "Helm"
    copied["metadata"].setdefault("annotations", {})["meta.helm.sh/release-name"] = "serving"
    return created(kube, copied, HELM)


def server_side(kube: Kube, body: Object) -> Object:
    """Create an object as a GitOps controller does."""
    return kube.apply(body, manager=ARGO)


def created(kube: Kube, body: Object, manager: str) -> Object:
    metadata = body["metadata"]
    path = kube.path(body["apiVersion"], body["kind"], None, metadata.get("namespace"))
    return kube.request("POST", path, params={"fieldManager": manager}, body=body)


def edit(kube: Kube, body: Object, change: Object) -> None:
    """Change an object as `kubectl edit` does."""
    kube.request("PATCH", kube.path_of(body), params={"fieldManager": EDIT}, body=change, content_type=_MERGE)


def autoscale(kube: Kube, body: Object, replicas: int) -> None:
    """Change the number of replicas as the controller of a HorizontalPodAutoscaler does."""
    path = f"{kube.path_of(body)}/scale"
    params = {"fieldManager": "kube-controller-manager"}
    kube.request("PATCH", path, params=params, body={"spec": {"replicas": replicas}}, content_type=_MERGE)


def deployment(name: str, namespace: str, replicas: int | None = 1, **container: Any) -> Object:
    server = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.10.0",
        "args": ["--model", "Qwen/Qwen2-0.5B", "--port", "8000"],
        "ports": [{"containerPort": 8000}],
        "resources": {"limits": {"nvidia.com/gpu": 1, "memory": "16Gi"}, "requests": {"cpu": "2000m"}},
        "readinessProbe": {"httpGet": {"path": "/health", "port": 8000}, "periodSeconds": 5},
        **container,
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [server]}}
    spec: Object = {"selector": {"matchLabels": {"app": name}}, "template": template}
    if replicas is not None:
        spec["replicas"] = replicas
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": {"team": "chat"}},
        "spec": spec,
    }


def stateful_set(name: str, namespace: str) -> Object:
    body = deployment(name, namespace)
    claim = {
        "metadata": {"name": "weights"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}},
    }
    spec = {**body["spec"], "serviceName": name, "volumeClaimTemplates": [claim]}
    return {**body, "kind": "StatefulSet", "spec": spec}


def service(name: str, namespace: str, kind: str = "ClusterIP") -> Object:
    spec: Object = {"selector": {"app": name}, "ports": [{"port": 80, "targetPort": 8000}]}
    if kind == "None":
        spec["clusterIP"] = "None"
    elif kind != "ClusterIP":
        spec["type"] = kind
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def hpa(name: str, namespace: str, kind: str = "Deployment") -> Object:
    target = {"apiVersion": "apps/v1", "kind": kind, "name": name}
    metric = {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
    }
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 5, "metrics": [metric]}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def leader_worker_set(name: str, namespace: str) -> Object:
    body = deployment(name, namespace)
    template = body["spec"]["template"]
    spec = {
        "replicas": 1,
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": template, "workerTemplate": template},
    }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def resources_of(file: str, namespace: str) -> list[Object]:
    """Return the resources of a file of models, under names of their own for this namespace."""
    bodies = list(yaml.safe_load_all((MODELS / file).read_text(encoding="utf-8")))
    names = {body["metadata"]["name"]: f"{body['metadata']['name']}-{namespace}" for body in bodies}
    shared = {
        old: new
        for old, new in names.items()
        if any(_is_cluster_wide(b) for b in bodies if b["metadata"]["name"] == old)
    }
    renamed = [_renamed(body, shared) for body in bodies]
    for body in renamed:
        if not _is_cluster_wide(body):
            body["metadata"]["namespace"] = namespace
    return renamed


def _is_cluster_wide(body: Object) -> bool:
    kind = kinds().find(body["apiVersion"], body["kind"])
    return bool(kind) and not kind.namespaced  # type: ignore[union-attr]


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_renamed(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


def everything(kube: Kube, namespace: str) -> dict[str, Object]:
    """Return all objects of a namespace that controllers do not create by themselves."""
    return {f"{kind}/{name}": body for kind, name, body in _everything(kube, namespace)}


def _everything(kube: Kube, namespace: str) -> Iterator[tuple[str, str, Object]]:
    built_in = [("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("v1", "Service"), ("v1", "ConfigMap")]
    built_in += [("autoscaling/v2", "HorizontalPodAutoscaler")]
    of_families = [(kind.api_version, kind.kind) for kind in kinds() if kind.namespaced]
    for api_version, kind in (*built_in, *of_families):
        for body in kube.list(api_version, kind, namespace):
            yield kind if (api_version, kind) in built_in else f"{api_version}/{kind}", body["metadata"]["name"], body


def identity(objects: dict[str, Object]) -> dict[str, tuple[Any, ...]]:
    """What a replacement, a restart or a change of an object would alter."""
    return {
        key: (body["metadata"]["uid"], body["metadata"].get("generation"), body.get("spec"), body.get("data"))
        for key, body in objects.items()
    }


def adopted(kube: Kube, cluster: Running, namespaces: list[str], folder: Path) -> ReadAdoption:
    """Write the project that adopts what serves models in some namespaces."""
    access = {"kubeconfig": str(cluster.kubeconfig), "clusterName": "adopted"}
    read = read_adoption(kube, read_cluster(kube, namespaces))
    write(folder, project_files(folder, "dev", read.adoption, {**access, **read.values}))
    (folder / "__main__.py").write_text(PROGRAM)
    return read


def engine_run(folder: Path, stack: str, what: str, display: Display | None = None) -> Outcome:
    """Run a command of the local engine on a project."""
    call = StackCall(stack, Deployer.LOCAL, "", folder, {"wait": False})
    engine = call.local(lambda _: None)
    if display is not None:
        engine._display = display
    outcome: Outcome = getattr(engine, what)()
    return outcome
