"""Adopted objects belong to the stack: any field can be removed, any edit is found, named and undone.

All of it on a real API server. For many more edits set ``INFERENCE_PLATFORM_EDITS``.
"""

import copy
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from typer.testing import CliRunner, Result

from components.contract.problems import field_path
from components.fleet.objects import Object
from tests.adopting import support
from tests.cluster.waiting import eventually
from toolkit.kube import Kube, KubeError
from toolkit.kube.managed_fields import is_controller
from workbench.adopting.declared import declared
from workbench.cli import app
from workbench.cluster.cluster import Running
from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.handing_over import ToCli
from workbench.drifting.drift import ABSENT, WEBHOOK, FieldDrift, differences_of, drift_of
from workbench.drifting.reading import server_view
from workbench.drifting.restoring import restore_object
from workbench.engine.apply.objects import MANAGER
from workbench.engine.apply.ownership import take_over
from workbench.engine.pulumi_cli import PulumiCli
from workbench.errors import WorkbenchError

EDITS = int(os.environ.get("INFERENCE_PLATFORM_EDITS", "12"))
SPACE = "taking-over"
WAYS = (support.KUBECTL, support.HELM, "Terraform", "pulumi-resource-kubernetes", support.ARGO)
"""Managers of clients that create objects; the last one uses server-side apply."""
KINDS = ("Deployment", "StatefulSet", "Service")
ASSIGNED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort")
_JSON_PATCH = "application/json-patch+json"
Steps = tuple[str | int, ...]

_HTTP = {"path": "/health", "port": 8000}
_SERVER = {
    "env": [
        {"name": "A", "value": "1"},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token", "optional": False}}},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
    ],
    "envFrom": [{"configMapRef": {"name": "settings"}}],
    "ports": [{"name": "http", "containerPort": 8000}, {"name": "metrics", "containerPort": 9000}],
    "readinessProbe": {"httpGet": _HTTP, "periodSeconds": 5},
    "livenessProbe": {"tcpSocket": {"port": 8000}},
    "startupProbe": {"httpGet": {**_HTTP, "httpHeaders": [{"name": "a", "value": "b"}]}, "failureThreshold": 60},
    "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}},
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "volumeMounts": [
        {"name": "shm", "mountPath": "/dev/shm"},
        {"name": "cfg", "mountPath": "/cfg", "readOnly": True},
    ],
    "workingDir": "/srv",
}
_TERM = {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a10g"]}]}
_POD = {
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
    "serviceAccountName": "models",
    "priorityClassName": "system-node-critical",
    "terminationGracePeriodSeconds": 90,
    "securityContext": {"fsGroup": 1000, "runAsUser": 1000},
    "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_TERM]}},
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": "chat"}},
        }
    ],
    "initContainers": [{"name": "fetch", "image": "busybox", "command": ["true"]}],
    "volumes": [
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"name": "cfg", "configMap": {"name": "cfg", "items": [{"key": "a", "path": "a"}]}},
        {"name": "host", "hostPath": {"path": "/models"}},
        {"name": "all", "projected": {"sources": [{"secret": {"name": "s"}}]}},
    ],
    "imagePullSecrets": [{"name": "registry"}],
    "hostAliases": [{"ip": "127.0.0.1", "hostnames": ["a"]}],
}


def written(kind: str, name: str) -> Object:
    """Return an object with fields of every form: structs, maps, atomic maps, lists with and without keys."""
    if kind == "Service":
        ports = [{"name": "http", "port": 80, "targetPort": 8000}, {"name": "metrics", "port": 9000}]
        spec = {"selector": {"app": name}, "ports": ports, "type": "NodePort", "externalTrafficPolicy": "Local"}
        return {**support.service(name, SPACE), "spec": {**spec, "publishNotReadyAddresses": True}}
    build = support.deployment if kind == "Deployment" else support.stateful_set
    body = build(name, SPACE)
    pod = body["spec"]["template"]["spec"]
    pod["containers"][0] |= copy.deepcopy(_SERVER)
    pod["containers"].append({"name": "sidecar", "image": "busybox", "command": ["sleep", "infinity"]})
    pod |= copy.deepcopy(_POD)
    body["spec"] |= {"minReadySeconds": 5, "revisionHistoryLimit": 3}
    body["metadata"]["annotations"] = {"team.example.com/owner": "chat"}
    return body


@pytest.fixture(scope="module", autouse=True)
def _space(kube: Kube) -> Iterator[None]:
    kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": SPACE}})
    yield
    kube.delete("v1", "Namespace", SPACE)


def created(kube: Kube, body: Object, manager: str) -> Object:
    if manager == support.ARGO:
        return kube.apply(body, manager=manager)
    if manager == support.KUBECTL:
        return support.client_side(kube, body)
    return support.created(kube, body, manager)


def taken_over(kube: Kube, live: Object) -> tuple[Object, Object]:
    """Import an object as the engine does; return the manifest and the live object."""
    body = declared(live)
    take_over(kube, kube.apply(body, manager=MANAGER))
    return body, kube.get_live(live)


def drift(kube: Kube, body: Object, live: Object) -> list[FieldDrift]:
    return [field for field in differences_of(body, live, server_view(kube, body, live)) if not field.owner]


def deleted(kube: Kube, body: Object) -> None:
    kube.delete(body["apiVersion"], body["kind"], body["metadata"]["name"], SPACE)


def places(value: Any, path: Steps = ()) -> Iterator[Steps]:
    """Yield the path of every field and item of a manifest, but for what identifies the object."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if (*path, key) not in (
            ("apiVersion",),
            ("kind",),
            ("metadata",),
            ("metadata", "name"),
            ("metadata", "namespace"),
        ):
            yield (*path, key)
        yield from places(inner, (*path, key))


def reduced(body: Object, path: Steps) -> Object:
    """Return a manifest without a field, and without a struct or list of which nothing is left."""
    result = copy.deepcopy(body)
    parent: Any = result
    for step in path[:-1]:
        parent = parent[step]
    del parent[path[-1]]
    return result if parent or len(path) < 2 else reduced(result, path[:-1])


def comparable(live: Object) -> Object:
    """Return what a manifest decides about."""
    metadata = {
        "labels": live["metadata"].get("labels"),
        "annotations": {
            key: value
            for key, value in (live["metadata"].get("annotations") or {}).items()
            if "last-applied" not in key and "deployment.kubernetes.io" not in key and "helm" not in key
        },
    }
    rest = {key: value for key, value in live.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    if (live["apiVersion"], live["kind"]) == ("v1", "Service"):
        spec = {key: value for key, value in live["spec"].items() if key not in ASSIGNED}
        ports = spec.get("ports") or ()
        spec["ports"] = [{key: value for key, value in port.items() if key != "nodePort"} for port in ports]
        rest["spec"] = spec
    return {"metadata": metadata, **rest}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_each_field_of_an_adopted_object_can_be_removed(kube: Kube, kind: str, way: str) -> None:
    name = f"removed-{kind.lower()}-{WAYS.index(way)}"
    before = created(kube, written(kind, name), way)
    body, live = taken_over(kube, before)
    assert live["metadata"].get("generation") == before["metadata"].get("generation")
    assert live["spec"] == before["spec"]
    managers = {entry["manager"] for entry in live["metadata"]["managedFields"] if not entry.get("subresource")}
    # kubectl keeps the annotation in which it notes what it applied; the API server owns nothing else.
    assert {each for each in managers if not is_controller(each)} <= {MANAGER, support.KUBECTL}
    assert drift(kube, body, live) == []
    assert drift_of(body, live) == ()

    # The three others differ from the first only by their names.
    fields = places(body) if way in (support.KUBECTL, support.ARGO) else ()
    removed, refused = 0, []
    for path in fields:
        if path[-1] == "serviceAccountName" and way == support.ARGO:
            continue  # the API server copied it to a field without an owner: kubernetes/kubernetes#72519
        manifest = reduced(body, path)
        other = {**manifest, "metadata": {**manifest["metadata"], "name": "other"}}
        try:
            fresh = kube.create(other, dry_run=True)
        except KubeError:
            continue  # a required field
        try:
            applied = kube.apply(manifest, manager=MANAGER, dry_run=True)
        except KubeError as error:
            refused += [] if error.immutable else [(path, error.message)]
            continue
        differs = [*changed(comparable(applied), comparable(fresh))]
        assert differs == [], f"{path} removed: {differs}"
        removed += 1
    assert refused == []
    assert removed >= (8 if kind == "Service" else 100) or not fields
    deleted(kube, body)


def test_what_an_adopted_object_does_not_declare_stays_as_it_is(kube: Kube) -> None:
    """Fields with other values than their defaults are not taken over: the next apply would reset them."""
    before = created(kube, {**support.deployment("kept", SPACE, replicas=3)}, support.KUBECTL)
    support.edit(kube, before, {"metadata": {"labels": {"by": "hand"}}})
    body = declared(kube.get_live(before), scaled=True)  # an autoscaler sets the replicas
    del body["metadata"]["labels"]["by"]
    take_over(kube, kube.apply(body, manager=MANAGER))
    after = kube.apply(body, manager=MANAGER)
    assert (after["spec"]["replicas"], after["metadata"]["labels"]["by"]) == (3, "hand")
    assert [field.path for field in drift(kube, body, after) if field.path != "spec.replicas"] == [
        "metadata.labels.by"
    ]
    deleted(kube, body)


# With the commands


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def project(kube: Kube, cluster: Running, tmp_path: Path) -> Iterator[Path]:
    """An adopted Deployment with its Service, which `up` has not imported yet."""
    namespace = tmp_path.name.replace("_", "-")[-40:].strip("-")
    kube.request("POST", "/api/v1/namespaces", body={"metadata": {"name": namespace}})
    support.client_side(kube, support.deployment("chat", namespace))
    support.by_helm(kube, support.service("chat", namespace))
    folder = tmp_path / namespace
    done = run("adopt", folder, "--kubeconfig", cluster.kubeconfig, "-n", namespace, "--stack", "dev")
    assert done.exit_code == 0, done.output
    (folder / "__main__.py").write_text("from stacks.program import run\n\nrun()\n")
    yield folder
    kube.delete("v1", "Namespace", namespace)


def up(folder: Path, *words: str) -> Result:
    return run("up", "--stack", "dev", "--engine", "local", "--cwd", folder, "--no-wait", "--yes", *words)


def diff(folder: Path, cluster: Running, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.chdir(folder)
    return run("diff", "--stack", "dev", "--kubeconfig", cluster.kubeconfig)


def test_a_change_between_adopt_and_up_is_not_undone_silently(
    kube: Kube, cluster: Running, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def image() -> Any:
        (server,) = kube.get_live(body)["spec"]["template"]["spec"]["containers"]
        return server["image"]

    body = support.deployment("chat", project.name)
    before = image()
    server = {"name": "vllm", "image": "vllm/vllm-openai:v0.10.2"}
    support.edit(kube, body, {"spec": {"template": {"spec": {"containers": [server]}}}})
    refused = up(project)
    assert isinstance(refused.exception, WorkbenchError)
    assert "importing 1 object would change what runs" in str(refused.exception)
    assert f'"vllm/vllm-openai:v0.10.2" => "{before}"' in refused.output
    assert image() == "vllm/vllm-openai:v0.10.2"

    restored = up(project, "--restore")
    assert restored.exit_code == 0, restored.output
    assert "restored 1 object\n" in restored.output
    assert image() == before
    assert diff(project, cluster, monkeypatch).output == "The cluster is as planned.\n"


def test_an_adopted_fleet_loses_a_probe_and_is_restored_after_edits(
    kube: Kube, cluster: Running, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, service = support.deployment("chat", project.name), support.service("chat", project.name)
    before = kube.get_live(body)
    assert up(project).exit_code == 0
    assert diff(project, cluster, monkeypatch).output == "The cluster is as planned.\n"
    assert kube.get_live(body)["metadata"]["generation"] == before["metadata"]["generation"]

    path = project / "models" / project.name / "chat.yaml"
    documents = list(yaml.safe_load_all(path.read_text()))
    (manifest,) = [each for each in documents if each["kind"] == "Deployment"]
    del manifest["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    path.write_text(yaml.safe_dump_all(documents))
    assert up(project).exit_code == 0
    assert "readinessProbe" not in kube.get_live(body)["spec"]["template"]["spec"]["containers"][0]

    support.edit(kube, body, {"metadata": {"labels": {"by": "hand"}}})
    support.edit(kube, service, {"spec": {"selector": {"version": "2"}}})
    found = diff(project, cluster, monkeypatch)
    assert found.exit_code == 1
    assert found.output.startswith("2 objects differ from the plan in 2 fields")
    assert up(project, "--restore").exit_code == 0
    assert diff(project, cluster, monkeypatch).exit_code == 0
    assert kube.get_live(service)["spec"]["selector"] == {"app": "chat"}
    assert "the objects that exist are as planned" in up(project, "--restore").output


FLUX = {"kustomize.toolkit.fluxcd.io/name": "models", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}


@pytest.mark.parametrize(
    ("manager", "labels", "line"),
    [
        (support.ARGO, {}, "Argo CD applies it too, and would undo changes: delete the Application"),
        ("kustomize-controller", FLUX, "Flux (models) applies it too, and would undo changes: take the objects out"),
        (support.KUBECTL, {}, ""),
    ],
)
def test_the_handover_names_who_else_applies_an_object(
    kube: Kube, project: Path, capsys: pytest.CaptureFixture[str], manager: str, labels: dict[str, str], line: str
) -> None:
    """They own the same values now, so that the Pulumi CLI conflicts with them only at a later change."""
    assert up(project).exit_code == 0
    body = support.deployment("chat", project.name)
    body["metadata"]["labels"] |= labels
    kube.apply(body, manager=manager)
    call = StackCall("dev", Deployer.LOCAL, "", project, {"wait": False})
    ToCli(
        call, cast("PulumiCli", SimpleNamespace(deployed=lambda: {*call.local().record(preview=True).nodes}))
    ).prepare()
    printed = capsys.readouterr().err
    assert (f"warning: Deployment {project.name}/chat: {line}" in printed) == bool(line)
    assert printed.count("applies it too") == bool(line) + printed.count(": Helm")


# Random edits by hand


def edits(live: Object, chance: random.Random) -> list[Object]:
    """Return a JSON patch of one edit."""
    pod: Steps = ("spec", "template", "spec") if live["kind"] != "Service" else ("spec",)
    maps: list[Steps] = [("metadata", "labels"), ("metadata", "annotations")]
    maps += [("spec", "selector")] if live["kind"] == "Service" else [(*pod, "nodeSelector")]
    choice = chance.random()
    if choice < 0.3:
        place = chance.choice(maps)
        return [{"op": "add", "path": pointer((*place, f"edited-{chance.randint(0, 9)}")), "value": "x"}]
    if choice < 0.4 and live["kind"] != "Service":
        item = {"name": f"EDITED_{chance.randint(0, 9)}", "value": "1"}
        return [{"op": "add", "path": pointer((*pod, "containers", 0, "env", "-")), "value": item}]
    leaves = [path for path in places({"spec": live["spec"]}) if path[: len(pod)] == pod and len(path) > len(pod)]
    path = chance.choice(leaves)
    value: Any = live
    for step in path:
        value = value[step]
    if path[-1] == "name":
        return []  # without its key, an item of a list is another item
    if choice < 0.7 or isinstance(value, dict | list):
        return [{"op": "remove", "path": pointer(path)}]
    other = (not value) if isinstance(value, bool) else value + 1 if isinstance(value, int) else f"{value}x"
    return [{"op": "replace", "path": pointer(path), "value": other}]


def pointer(path: Steps) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def changed(before: Any, after: Any, path: Steps = ()) -> Iterator[Steps]:
    """Yield the paths at which two states of an object differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            if key not in before or key not in after:
                yield (*path, key)
            else:
                yield from changed(before[key], after[key], (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changed(old, new, (*path, index))
    elif before != after:
        yield path


def near(text: str, path: Steps) -> bool:
    """Whether a reported field is an edited one, or below or above it."""
    edited = field_path(path)
    return text.startswith(edited) or edited.startswith(text)


@pytest.fixture(scope="module")
def adopted(kube: Kube) -> dict[str, tuple[Object, Object]]:
    """An adopted object of each kind: its manifest, and how it was."""
    ways = (support.KUBECTL, support.HELM, support.KUBECTL)
    return {
        kind: taken_over(kube, created(kube, written(kind, f"edited-{kind.lower()}"), way))
        for kind, way in zip(KINDS, ways, strict=True)
    }


@pytest.mark.parametrize("seed", range(EDITS))
def test_an_edit_is_found_once_with_its_writer_and_undone(
    kube: Kube, adopted: dict[str, tuple[Object, Object]], seed: int
) -> None:
    chance = random.Random(seed)
    body, before = adopted[KINDS[seed % len(KINDS)]]
    for _ in range(20):
        patch = edits(before, chance)
        params = {"fieldManager": support.EDIT}
        try:
            after = kube.request("PATCH", kube.path_of(body), params=params, body=patch, content_type=_JSON_PATCH)
        except KubeError:
            continue  # not an edit that the API server accepts
        edited = [*changed(comparable(before), comparable(after))]
        parents = [path[:-1] for path in edited]
        # A volume without its source gets an emptyDir of the API server, which is not a change of its own.
        edited = [path for path in edited if path[-1] != "emptyDir" or parents.count(path[:-1]) == 1]
        if edited:
            break
    else:
        pytest.fail("no edit was accepted")
    found = drift(kube, body, after)
    shown = json.dumps([patch, [(field.path, str(field.planned), str(field.live)) for field in found]])
    assert found, shown
    assert len({field.path for field in found}) == len(found), shown
    assert all(any(near(field.path, path) for path in edited) for field in found), shown
    assert all(any(near(field.path, path) for field in found) for path in edited), shown
    assert all(field.writer.manager == support.EDIT or field.live is ABSENT for field in found), shown

    restore_object(kube, body, after, scaled=False)
    live = kube.get_live(before)
    assert comparable(live) == comparable(before), shown
    assert drift(kube, body, live) == [], shown


# Admission that changes what is applied

MIRROR = "mirror.example/vllm:v1"


@pytest.fixture
def mirrored(kube: Kube) -> Iterator[Object]:
    """A Deployment in a namespace where an admission policy replaces images, as a webhook does."""
    space, api = "mirrored", "admissionregistration.k8s.io/v1"
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}
    patch = f'[JSONPatch{{op: "replace", path: "/spec/template/spec/containers/0/image", value: "{MIRROR}"}}]'
    policy = {
        "matchConstraints": {"resourceRules": [rule]},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
    }
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space}}}
    binding = {"policyName": space, "matchResources": selector}
    for kind, spec in (("MutatingAdmissionPolicy", policy), ("MutatingAdmissionPolicyBinding", binding)):
        kube.apply({"apiVersion": api, "kind": kind, "metadata": {"name": space}, "spec": spec}, manager="test")
    kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}, manager="test")
    body = support.deployment("chat", space)
    eventually(lambda: image_of(kube.apply(body, manager=MANAGER)) == MIRROR, "the policy takes effect")
    yield body
    for kind in ("MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"):
        kube.delete(api, kind, space)
    kube.delete("v1", "Namespace", space)


def image_of(body: Object) -> Any:
    return body["spec"]["template"]["spec"]["containers"][0]["image"]


def test_what_admission_replaces_is_named_and_no_drift(kube: Kube, mirrored: Object) -> None:
    live = kube.get_live(mirrored)
    (found,) = differences_of(mirrored, live, server_view(kube, mirrored, live))
    assert (found.path, found.planned, found.live, found.owner) == (
        "spec.template.spec.containers[0].image",
        image_of(mirrored),
        MIRROR,
        WEBHOOK,
    )
    support.edit(kube, mirrored, {"metadata": {"labels": {"by": "hand"}}})
    assert [field.path for field in drift(kube, mirrored, kube.get_live(mirrored))] == ["metadata.labels.by"]
