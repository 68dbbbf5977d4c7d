"""Snapshots: order, owners, and what could not be read."""

import http
from typing import Any

import pytest

from components.fleet.objects import Object
from tests.inspecting.objects import deployment
from toolkit.errors import UserError
from toolkit.kube import KubeError
from toolkit.kube.errors import NoSuchKindError
from workbench.inspecting.reading import read_cluster, read_files, read_kinds
from workbench.inspecting.snapshot import ClusterSnapshot, Missing, identity_of


def an_object(kind: str, name: str, *, api: str = "apps/v1", uid: str = "", owner: Object | None = None) -> Object:
    metadata: Object = {"name": name, "namespace": "models"}
    if uid:
        metadata["uid"] = uid
    if owner:
        reference = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"]}
        metadata["ownerReferences"] = [{**reference, "uid": owner["metadata"].get("uid", ""), "controller": True}]
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


class Server:
    """A stand-in of the client: what it serves, and what it refuses."""

    server = "https://cluster"

    def __init__(self, objects: dict[tuple[str, str], list[Object]], refused: dict[str, int] | None = None) -> None:
        self.objects = objects
        self.refused = refused or {}
        self.requests: list[str] = []

    def resource(self, api_version: str, kind: str) -> None:
        if (api_version, kind) not in self.objects:
            raise NoSuchKindError(404, "NoSuchKind", f"no {kind}")

    def list(self, api_version: str, kind: str, namespace: str | None = None, unread: object = None) -> list[Object]:
        assert unread == []
        self.requests.append(f"{kind} {namespace}")
        self._refuse(kind)
        items = self.objects[api_version, kind]
        return [
            {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
            for item in items
            if namespace in (None, item["metadata"].get("namespace"))
        ]

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object:
        self.requests.append(f"{kind} {namespace}/{name}")
        self._refuse(kind)
        for item in self.objects.get((api_version, kind), ()):
            if (item["metadata"].get("namespace"), item["metadata"]["name"]) == (namespace, name):
                return item
        raise KubeError(404, "NotFound", name)

    def request(self, method: str, path: str) -> Any:
        assert method == "GET"
        if path == "/version":
            return {"gitVersion": "v1.36.3"}
        raise KubeError(404, "NotFound", path)

    def _refuse(self, kind: str) -> None:
        status = self.refused.get(kind)
        if status is not None:
            raise KubeError(status, "Forbidden", f"{kind} is refused")


DEPLOYMENT, PODS = ("apps/v1", "Deployment"), ("v1", "Pod")


def test_objects_are_sorted_and_complete() -> None:
    objects = [an_object("Deployment", "b"), an_object("Deployment", "a"), an_object("Pod", "z", api="v1")]
    snapshot = ClusterSnapshot(tuple(objects))
    assert [identity_of(body)[3] for body in snapshot.objects] == ["z", "a", "b"]
    assert snapshot.objects[0] is objects[2]


def test_owners_are_found_by_uid() -> None:
    top = an_object("Playful", "a", api="example.com/v1", uid="1")
    middle = an_object("Deployment", "b", uid="2", owner=top)
    pod = an_object("Pod", "c", api="v1", uid="3", owner=middle)
    other = an_object("Pod", "d", api="v1", uid="4")
    snapshot = ClusterSnapshot((top, middle, pod, other))
    assert snapshot.root(pod) is top
    assert snapshot.root(other) is other
    assert [body["metadata"]["name"] for body in snapshot.all_owned(top)] == ["b", "c"]


def test_an_owner_of_another_uid_is_another_object() -> None:
    """An object of the same name that was created anew does not own what the earlier one left."""
    new = an_object("Deployment", "a", uid="2")
    pod = an_object("Pod", "c", api="v1", owner=an_object("Deployment", "a", uid="1"))
    assert ClusterSnapshot((new, pod)).owner(pod) is None


def test_owners_without_uid_are_found_by_name() -> None:
    top = an_object("Deployment", "a")
    pod = an_object("Pod", "c", api="v1", owner=top)
    assert ClusterSnapshot((top, pod)).owner(pod) is top


def test_objects_that_own_each_other_end() -> None:
    first = an_object("Deployment", "a", uid="1", owner=an_object("Deployment", "b", uid="2"))
    second = an_object("Deployment", "b", uid="2", owner=first)
    snapshot = ClusterSnapshot((first, second))
    assert snapshot.root(first) is second
    assert len([*snapshot.all_owned(first)]) == 1


def test_items_get_the_kind_that_lists_leave_out() -> None:
    snapshot = read_cluster(Server({DEPLOYMENT: [an_object("Deployment", "a")]}))  # type: ignore[arg-type]
    assert [(body["apiVersion"], body["kind"]) for body in snapshot.objects] == [DEPLOYMENT]
    assert snapshot.server_version == "v1.36.3"
    assert "Pod" in snapshot.absent


def test_a_refused_kind_is_named_once_with_the_right() -> None:
    server = Server({DEPLOYMENT: [an_object("Deployment", "a")], PODS: []}, {"Pod": http.HTTPStatus.FORBIDDEN})
    snapshot = read_cluster(server)  # type: ignore[arg-type]
    (missing,) = snapshot.missing
    assert (missing.title, missing.denied) == ("list pods", True)
    assert len(snapshot.objects) == 1


def test_namespaces_are_read_one_by_one_and_nodes_as_a_whole() -> None:
    server = Server({DEPLOYMENT: [an_object("Deployment", "a")], ("v1", "Node"): [], PODS: []}, {"Pod": 403})
    snapshot = read_cluster(server, ["models", "empty"])  # type: ignore[arg-type]
    assert server.requests == ["Node None", "Pod models", "Pod empty", "Deployment models", "Deployment empty"]
    assert [missing.title for missing in snapshot.missing] == [
        "list pods in namespace models",
        "list pods in namespace empty",
    ]


def test_a_server_that_rejects_the_credentials_is_an_error() -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_cluster(Server({PODS: []}, {"Pod": 401}))  # type: ignore[arg-type]


def test_a_failing_server_is_not_a_missing_right() -> None:
    (missing,) = read_cluster(Server({PODS: []}, {"Pod": 503})).missing  # type: ignore[arg-type]
    assert missing == Missing(
        "list", "", "pods", "", "Pod is refused", "the nodes that replicas run on", denied=False
    )


def with_variables(name: str, *config_maps: str, image: str = "vllm/vllm-openai:v0.9.0") -> Object:
    """Return a Deployment whose server takes variables from ConfigMaps, the last one for a single variable."""
    *whole, single = config_maps
    one = {"name": "MODEL", "valueFrom": {"configMapKeyRef": {"name": single, "key": "model"}}}
    server = {"name": "server", "image": image, "envFrom": [{"configMapRef": {"name": each}} for each in whole]}
    return {**deployment(name, {**server, "env": [one]}), "apiVersion": "apps/v1"}


def test_only_the_config_maps_of_servers_are_read() -> None:
    held = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "all", "namespace": "models"}}
    bodies = [with_variables("a", "all", "one"), with_variables("b", "all", "web", image="nginx:1")]
    server = Server({DEPLOYMENT: bodies, ("v1", "ConfigMap"): [held]})
    snapshot = read_cluster(server)  # type: ignore[arg-type]
    assert [each for each in server.requests if each.startswith("ConfigMap")] == [
        "ConfigMap models/all",
        "ConfigMap models/one",
    ]
    assert snapshot.find("", "ConfigMap", "models", "all") == held
    assert not snapshot.missing


def test_config_maps_that_must_not_be_read_are_named_once() -> None:
    bodies = [with_variables("a", "all", "one"), with_variables("b", "other", "one")]
    snapshot = read_cluster(Server({DEPLOYMENT: bodies}, {"ConfigMap": 403}))  # type: ignore[arg-type]
    (missing,) = snapshot.missing
    assert (missing.title, missing.denied) == ("get configmaps in namespace models", True)


def test_secrets_are_never_read() -> None:
    assert not any(kind.kind == "Secret" or kind.plural == "secrets" for kind in read_kinds())


def test_files_are_read_as_kubectl_and_helm_write_them(tmp_path) -> None:
    (tmp_path / "list.yaml").write_text(
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: x}, spec: {}}\n"
        "- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x}, data: {key: dmFsdWU=}}\n"
    )
    (tmp_path / "typed.yml").write_text(
        "apiVersion: apps/v1\nkind: StatefulSetList\nitems: [{metadata: {name: b, namespace: x}, spec: {}}]\n"
    )
    (tmp_path / "helm.yaml").write_text(
        "---\n# Source: chart/templates/deployment.yaml\n---\n"
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: c}, spec: {}}\n---\n"
        "{apiVersion: v1, kind: Node, metadata: {name: gpu-1}}\n---\njust text\n"
    )
    (tmp_path / "broken.yaml").write_text("a: [\n")
    snapshot, problems = read_files([tmp_path], "models")
    assert [identity_of(body) for body in snapshot.objects] == [
        ("", "Node", "", "gpu-1"),
        ("apps", "Deployment", "models", "c"),
        ("apps", "Deployment", "x", "a"),
        ("apps", "StatefulSet", "x", "b"),
    ]
    assert [problem.file for problem in problems] == [str(tmp_path / "broken.yaml")]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("3", "spec"),
        ("{template: {spec: {containers: 3}}}", "spec.template.spec.containers"),
        ("{replicas: many}", "spec.replicas"),
    ],
)
def test_workloads_that_cannot_be_read_are_problems(tmp_path, spec: str, path: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: a}}, spec: {spec}}}\n")
    snapshot, problems = read_files([file])
    assert snapshot.objects == ()
    assert [(problem.kind, problem.name, problem.path) for problem in problems] == [("Deployment", "a", path)]
