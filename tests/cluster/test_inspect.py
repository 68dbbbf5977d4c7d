"""Inspections of a real API server: its controllers own pods, and its authorizer grants the documented rights."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.schema.crds import crd
from components.families import kinds, member_of, objects
from tests.cluster.test_rights import with_token
from tests.cluster.waiting import eventually
from tests.fleet.test_on_cluster import established
from tests.inspecting.objects import an_object, container, deployment, group, hpa, service
from toolkit.kube import Kube, KubeError
from workbench.cluster.cluster import Running
from workbench.inspecting.formats import text
from workbench.inspecting.inspection import inspect
from workbench.inspecting.reading import read_cluster, read_kinds
from workbench.inspecting.snapshot import ClusterSnapshot, Identity, Missing, identity_of

Object = dict[str, Any]
ROOT = Path(__file__).parents[2]
ROLE: Object = yaml.safe_load((ROOT / "docs/inspect-role.yaml").read_text())
SPACE, OTHER = "inspected", "inspected-too"
MANAGER = "test-inspect"
RBAC = "rbac.authorization.k8s.io"
FOREIGN = [kind for kind in read_kinds() if kind.apis[0].startswith(("serving.kserve.io", "keda.sh"))]
"""Kinds of other projects that the test serves, without their schemas."""


def definition(kind: Any) -> Object:
    group_name, _, version = kind.apis[0].partition("/")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    names = {"plural": kind.plural, "singular": kind.kind.lower(), "kind": kind.kind, "listKind": f"{kind.kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{group_name}"},
        "spec": {
            "group": group_name,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


def served(kube: Kube, body: Object) -> None:
    kube.apply(body, manager=MANAGER)
    name = body["metadata"]["name"]

    eventually(lambda: established(kube, name), name)
    version = body["spec"]["versions"][0]["name"]
    api_version = f"{body['spec']['group']}/{version}"

    def listed() -> bool:
        try:
            kube.forget(api_version)
            kube.list(api_version, body["spec"]["names"]["kind"])
        except KubeError:
            return False
        return True

    eventually(listed, f"lists of {name}")


@pytest.fixture(scope="module")
def models(kube: Kube) -> Iterator[list[Identity]]:
    """A cluster with models of every kind; their identities."""
    for kind in kinds():
        served(kube, crd(kind))
    foreign = [definition(kind) for kind in FOREIGN]
    for body in foreign:
        served(kube, body)
    for name in (SPACE, OTHER):
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, manager=MANAGER)
        eventually(functools.partial(kube.list, "v1", "ServiceAccount", name), "default service account")
    made = [kube.apply(body, manager=MANAGER) for body in _written()]
    owned = _owned(kube, made)
    eventually(lambda: len(kube.list("v1", "Pod", SPACE)) >= 2, "pods of the Deployments")
    yield [identity_of(body) for body in made if _serves(body)]
    for body in (*owned, *reversed(made)):
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace"))
    for body in foreign:
        kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"])
    for name in (SPACE, OTHER):
        kube.delete("v1", "Namespace", name)


def _written() -> Iterator[Object]:
    """Yield the samples of the families, and workloads of other kinds."""
    # It has a value of a later release of LeaderWorkerSet, which the definitions of the contract refuse.
    later = "llama-405b-multinode.yaml"
    for file in sorted(each for each in (ROOT / "stacks/models").glob("*.yaml") if each.name != later):
        for body in yaml.safe_load_all(file.read_text()):
            known = objects([body]).resources if body else ()
            if known:
                yield _moved(body, SPACE) if known[0].kind.namespaced else body
    plain = _moved(deployment("by-hand", replicas=2), SPACE)
    wrong = container(args=["--model", "a/b", "--max-model-length", "8192"])
    yield plain
    yield _moved(hpa(plain), SPACE)
    yield _moved(service("by-hand", "by-hand"), SPACE)
    yield _moved(deployment("by-hand", wrong, kind="StatefulSet", serviceName="by-hand"), OTHER)
    yield _moved(group("grouped", size=1), OTHER)
    helm = _moved(deployment("by-helm"), OTHER)
    helm["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "Helm", "helm-release-name": "vllm"}
    helm["metadata"]["annotations"] = {"meta.helm.sh/release-name": "vllm"}
    yield helm
    yield _moved(deployment("web", container(image="nginx:1.29", args=[], resources={})), OTHER)
    yield _moved(deployment("not-known", container(image="nginx:1.29", args=[])), OTHER)
    predictor = {"model": {"modelFormat": {"name": "huggingface"}, "storageUri": "hf://a/b"}}
    yield an_object("serving.kserve.io/v1beta1", "InferenceService", "predicted", OTHER, predictor=predictor)
    template = {"containers": [{"name": "main"}]}
    yield an_object("serving.kserve.io/v1alpha2", "LLMInferenceService", "large", OTHER, template=template)


def _moved(body: Object, namespace: str) -> Object:
    return {**body, "metadata": {**body["metadata"], "namespace": namespace}}


def _owned(kube: Kube, made: list[Object]) -> list[Object]:
    """Create what the operators would: a Deployment of a resource, which somebody then edited by hand."""
    owner = next(body for body in made if body["kind"] == "InferenceService" and "llmkube" in body["apiVersion"])
    body = _moved(deployment("operated"), SPACE)
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": True}
    body["metadata"]["ownerReferences"] = [reference]
    kube.apply(body, manager="operator")
    edited = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "operated", "namespace": SPACE}}
    edited["spec"] = {"template": {"spec": {"containers": [{"name": "server", "image": "vllm/vllm-openai:v0.11.0"}]}}}
    return [kube.apply(edited, manager="somebody")]


def _serves(body: Object) -> bool:
    kind = kinds().find(body["apiVersion"], body["kind"])
    if kind is not None:
        return member_of(kind)[1].serves
    names = ("by-hand", "by-helm", "not-known", "predicted", "large")
    return body["metadata"]["name"] in names and body["kind"] not in ("Service", "HorizontalPodAutoscaler")


def found_in(snapshot: ClusterSnapshot) -> list[Identity]:
    mine = [model.identity for model in inspect(snapshot).models if model.identity[2] in (SPACE, OTHER)]
    return sorted(mine)


def test_every_model_is_found_once(kube: Kube, models: list[Identity]) -> None:
    snapshot = read_cluster(kube)
    assert found_in(snapshot) == sorted(models)
    assert snapshot.missing == ()
    assert snapshot.server_version.startswith("v1.")


def test_releases_are_those_of_the_served_definitions(kube: Kube, models: list[Identity]) -> None:
    families = {model.family: model.release for model in inspect(read_cluster(kube)).models if model.release}
    contracts = {kind.releases.family: kind.releases.contract for kind in kinds() if kind.releases.names}
    assert families
    for family, release in families.items():
        assert release.startswith(contracts[family]), (family, release)


def test_what_runs_is_shown_after_a_hand_edit(kube: Kube, models: list[Identity]) -> None:
    result = inspect(read_cluster(kube))
    (part,) = [part for model in result.models for part in model.parts if part.title == "Deployment/operated"]
    assert (part.engine, part.version) == ("vllm", "0.11.0")
    (plain,) = [model for model in result.models if model.identity == ("apps", "Deployment", SPACE, "by-hand")]
    assert plain.desired == 2
    assert plain.ready is not None
    assert [each.text for each in plain.autoscalers] == ["HorizontalPodAutoscaler/by-hand 1-4"]
    assert plain.endpoints == (f"http://by-hand.{SPACE}.svc.cluster.local:8000",)
    assert plain.owner.text == f"written by {MANAGER}"
    (helm,) = [model for model in result.models if model.identity[3] == "by-helm"]
    assert helm.owner.text == "Helm release vllm (vLLM production stack)"


def test_only_get_requests_are_sent(kube: Kube, models: list[Identity], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    send = kube._send

    def recorded(method: str, *request: Any) -> tuple[int, bytes]:
        sent.append((method, request[0]))
        return send(method, *request)

    monkeypatch.setattr(kube, "_send", recorded)
    read_cluster(kube)
    assert {method for method, _ in sent} == {"GET"}
    assert not any("secrets" in path for _, path in sent)


# Rights


def account(kube: Kube, cluster: Running, name: str, rules: list[Object], namespace: str = "") -> Kube:
    """Return a client with the rights of a service account, in the cluster or in a namespace."""
    scope = {"namespace": namespace} if namespace else {}
    own = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": SPACE}}
    kube.apply(own, manager=MANAGER)
    prefix = "" if namespace else "Cluster"
    role = {"apiVersion": f"{RBAC}/v1", "kind": f"{prefix}Role", "metadata": {"name": name, **scope}, "rules": rules}
    kube.apply(role, manager=MANAGER)
    binding = {
        "apiVersion": f"{RBAC}/v1",
        "kind": f"{prefix}RoleBinding",
        "metadata": {"name": name, **scope},
        "roleRef": {"apiGroup": RBAC, "kind": f"{prefix}Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": SPACE}],
    }
    kube.apply(binding, manager=MANAGER)
    path = f"{kube.path('v1', 'ServiceAccount', name, SPACE)}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return with_token(cluster, kube.request("POST", path, body=request)["status"]["token"])


def without(group_name: str, resource: str) -> list[Object]:
    """Return the documented rules without one resource."""
    rules = []
    for rule in ROLE["rules"]:
        kept = [each for each in rule["resources"] if not (group_name in rule["apiGroups"] and each == resource)]
        rules += [{**rule, "resources": kept}] if kept else []
    return rules


def test_the_documented_role_suffices(kube: Kube, cluster: Running, models: list[Identity]) -> None:
    with account(kube, cluster, "inspector", ROLE["rules"]) as client:
        snapshot = eventually(lambda: _complete(client), "rights of the role")
        assert found_in(snapshot) == sorted(models)


def _complete(client: Kube) -> ClusterSnapshot | None:
    snapshot = read_cluster(client)
    return None if snapshot.missing else snapshot


def test_the_documented_role_grants_get_and_list_alone() -> None:
    assert {verb for rule in ROLE["rules"] for verb in rule["verbs"]} == {"get", "list"}
    granted = {
        (api, resource) for rule in ROLE["rules"] for api in rule["apiGroups"] for resource in rule["resources"]
    }
    assert ("", "secrets") not in granted
    assert not any("*" in pair for pair in granted)
    needed = {(api.rpartition("/")[0], kind.plural) for kind in read_kinds() for api in kind.apis}
    # ConfigMaps are only read by the names that servers give.
    by_name = {("", "configmaps")}
    assert granted == needed | by_name | {("apiextensions.k8s.io", "customresourcedefinitions")}
    assert [rule["verbs"] for rule in ROLE["rules"] if "configmaps" in rule["resources"]] == [["get"]]


@pytest.mark.parametrize(
    ("group_name", "resource", "expected"),
    [
        ("", "nodes", "list nodes"),
        ("", "services", "list services"),
        ("apps", "deployments", "list deployments.apps"),
        ("autoscaling", "horizontalpodautoscalers", "list horizontalpodautoscalers.autoscaling"),
        ("serving.kserve.io", "llminferenceservices", "list llminferenceservices.serving.kserve.io"),
        (
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            "get customresourcedefinitions.apiextensions.k8s.io",
        ),
    ],
)
def test_a_missing_right_is_named_once(
    kube: Kube, cluster: Running, models: list[Identity], group_name: str, resource: str, expected: str
) -> None:
    with account(kube, cluster, f"no-{resource}", without(group_name, resource)) as client:

        def only_one() -> ClusterSnapshot | None:
            snapshot = read_cluster(client)
            return snapshot if len(snapshot.missing) == 1 else None

        snapshot = eventually(only_one, "all rights but one")
        (missing,) = snapshot.missing
        assert (missing.title, missing.denied) == (expected, True)
        shown = text(inspect(snapshot))
        assert " ".join(shown.split()).count(f"needs the right to {expected}:") == 1


def test_without_rights_each_is_named_once(kube: Kube, cluster: Running, models: list[Identity]) -> None:
    with account(kube, cluster, "without-rights", []) as client:
        snapshot = read_cluster(client)
    titles = [missing.title for missing in snapshot.missing]
    assert len(titles) == len(set(titles))
    absent = set(snapshot.absent)
    expected = {
        Missing("list", kind.apis[0].rpartition("/")[0], kind.plural, "", "", "").title
        for kind in read_kinds()
        if kind.title not in absent
    }
    assert set(titles) == expected | {"get customresourcedefinitions.apiextensions.k8s.io"}
    assert snapshot.objects == ()
    assert inspect(snapshot).models == ()


def test_rights_in_one_namespace_read_that_namespace(kube: Kube, cluster: Running, models: list[Identity]) -> None:
    with account(kube, cluster, "narrow", ROLE["rules"], OTHER) as client:

        def readable() -> ClusterSnapshot | None:
            snapshot = read_cluster(client, [OTHER])
            return snapshot if not any(missing.namespace for missing in snapshot.missing) else None

        snapshot = eventually(readable, "rights in the namespace")
        assert found_in(snapshot) == sorted(each for each in models if each[2] == OTHER)
        cluster_scoped = {
            kind.plural for kind in read_kinds() if not kind.namespaced and kind.title not in snapshot.absent
        }
        assert {missing.resource for missing in snapshot.missing} == cluster_scoped | {"customresourcedefinitions"}
