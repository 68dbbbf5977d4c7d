"""Commands against an API server that changes its answers: no internal error, and the next honest run repairs.

``INFERENCE_PLATFORM_EXAMPLES`` makes it try more, as in ``test_fuzz``.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pulumi
import pytest
from hypothesis import given

from tests.engine.safety.conftest import KUBECONFIG
from tests.engine.safety.standin import Key
from tests.engine.support import Stack, config_map, kube_object, register
from tests.hostile.conftest import LONG, NEVER, set_waits
from tests.hostile.mutated_server import MutatedServer
from tests.hostile.runs import run
from tests.hostile.test_fuzz import SEEDS, runs
from tests.inspecting.objects import container, deployment, group, node, service
from workbench.deploying.status import ClusterStatus
from workbench.engine.local import RunOptions
from workbench.errors import WorkbenchError

MODELS = {"Deployment/own/chat": {"workloadKind": "Deployment", "namespace": "own", "workload": "chat"}}
OWN = ("namespaces", "configmaps", "deployments", "persistentvolumeclaims", "pods", "services")


def program(stack: Stack, value: str) -> Callable[[], None]:
    """One object of each kind that the engine treats in a way of its own."""

    def run() -> None:
        provider = stack.provider()
        space = register(kube_object("v1", "Namespace", "own"), pulumi.ResourceOptions(provider=provider), "space")
        opts = pulumi.ResourceOptions(provider=provider, depends_on=[space])
        config_map("map", opts, "own", value=value)
        register(kube_object("v1", "Service", "web", "own", spec={"selector": {"app": "web"}}), opts, "service")
        claim = kube_object("v1", "PersistentVolumeClaim", "data", "own", spec={"storageClassName": f"class-{value}"})
        register(claim, opts, "claim")
        volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [], "volumes": [volume]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        register(kube_object("apps/v1", "Deployment", "web", "own", spec=spec), opts, "web")

    return run


@given(seed=SEEDS)
@runs(0.3)
def test_the_local_engine(seed: int, quick: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    random = Random(seed)
    server = MutatedServer(random)
    quick.setattr("toolkit.kube.client.Transport", server)
    folder = tmp_path_factory.mktemp("stack")
    (folder / "kubeconfig").write_text(KUBECONFIG)
    stack = Stack(folder, folder / "kubeconfig")
    before = set(server.objects)

    set_waits(quick, LONG)
    stack.options = RunOptions(wait=False)
    if random.random() < 0.7:
        assert stack.up(program(stack, "1")).ok
    server.share = random.choice((0.02, 0.1, 0.5, 1.0))
    set_waits(quick, NEVER)
    stack.options = RunOptions(seconds=0.005)
    for _ in range(random.choice((1, 1, 2))):
        what = random.choice(("up", "up", "preview", "destroy"))
        with contextlib.suppress(WorkbenchError):
            stack.run(what, program(stack, random.choice("12")) if what != "destroy" else lambda: None)

    server.share = 0.0
    set_waits(quick, LONG)
    stack.options = RunOptions(wait=False)
    outcome = stack.up(program(stack, "2"))
    assert outcome.ok, stack.screen
    live = {key.name: found for key, found in server.objects.items() if key.plural in OWN}
    assert live["map"]["data"] == {"value": "2"}
    assert live["data"]["spec"]["storageClassName"] == "class-2"
    assert {"map", "web", "data", "own"} <= live.keys()
    assert stack.up(program(stack, "2")).changed == 0, stack.screen
    assert stack.destroy().ok, stack.screen
    assert set(server.objects) == before
    assert stack.rows() == {}


def serving(server: MutatedServer) -> None:
    """Let models run in a cluster."""
    for body in (
        deployment("chat", container()),
        deployment("other", container()),
        group("group"),
        service("chat", "chat"),
    ):
        plural = f"{body['kind'].lower()}s"
        body["metadata"]["namespace"] = "own"
        server.create(Key(plural, "own", body["metadata"]["name"]), body, "kubectl")
    server.create(Key("nodes", "", "n"), node("n", "g5.2xlarge"), "kubelet")


MANIFESTS = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: group, namespace: own}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: c, image: "vllm/vllm-openai:v0.11.0", args: [--model, a/b]}]}}
"""
READERS = (
    ("inspect", "--kubeconfig", "kubeconfig", "--output", "json"),
    ("inspect", "--kubeconfig", "kubeconfig", "--details"),
    ("adopt", "--kubeconfig", "kubeconfig", "--dry-run", "adopted"),
    ("adopt", "--kubeconfig", "kubeconfig", "--dry-run", "-n", "own", "--family", "kthena", "adopted"),
    ("diff", "--kubeconfig", "kubeconfig", "--stack", "none", "models.yaml"),
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MutatedServer:
    """A cluster with models, of which one Deployment has a field of another type."""
    made = MutatedServer(Random(1))
    serving(made)
    made.objects[Key("deployments", "own", "other")]["spec"]["replicas"] = "three"
    del made.objects[Key("pods", "own", "other")]
    monkeypatch.setattr("toolkit.kube.client.Transport", made)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    (tmp_path / "models.yaml").write_text(MANIFESTS)
    return made


def test_an_object_that_cannot_be_read_is_left_out_and_named(server: MutatedServer) -> None:
    done = run(*READERS[1])
    assert done.code == 0, done.stderr
    first = " ".join(done.stdout.partition("\nMODEL")[0].split())
    assert first.startswith("http://127.0.0.1:9: 2 models, ")
    assert first.endswith("; 1 object was not read: own/Deployment/other")
    assert "own/Deployment/chat" in done.stdout
    assert 'must be an integer, found "three"' in " ".join(done.stdout.split())

    adopted = run(*READERS[2])
    assert adopted.code == 0, adopted.stderr
    note = 'note: not read, and left out: Deployment own/other: spec.replicas must be an integer, found "three"'
    assert note in adopted.stdout
    assert "Deployment own/chat -> " in adopted.stdout
    # The Deployments of all namespaces are read as well, and the note comes once.
    assert run(*READERS[3]).stdout.count("not read, and left out: Deployment own/other") == 1

    status = ClusterStatus.read("kubeconfig", MODELS)
    assert status.reachable
    assert [each.title for each in status.unread] == ["Deployment own/other"]
    assert ("Deployment", "own", "chat") in status.pods

    server.objects[Key("leaderworkersets", "own", "group")]["spec"]["replicas"] = []
    drift = run(*READERS[4])
    assert drift.code == 2
    assert "1 object not compared" in drift.stdout
    assert "LeaderWorkerSet own/group: spec.replicas must be an integer, found []" in " ".join(drift.stdout.split())


def test_objects_that_can_be_read_are_not_named(server: MutatedServer) -> None:
    server.objects[Key("deployments", "own", "other")]["spec"]["replicas"] = 3
    for reader in READERS[:4]:
        done = run(*reader)
        assert done.code == 0, done.stderr
        assert "not read" not in done.stdout


def test_a_kind_whose_list_is_none_is_named(server: MutatedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(method: str, path: str, *rest: Any) -> tuple[int, bytes]:
        if path.endswith("/deployments"):
            return 200, b"<html>Sign in</html>"
        return MutatedServer.send(server, method, path, *rest)

    monkeypatch.setattr(server, "send", send)
    done = run(*READERS[1])
    assert done.code == 0, done.stderr
    assert "not read: failed to list deployments.apps (http://127.0.0.1:9 responded with" in " ".join(
        done.stdout.split()
    )
    assert "own/LeaderWorkerSet/group" in done.stdout


def test_a_server_that_is_none_ends_the_command(server: MutatedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "send", lambda *_: (200, b"<html>Sign in</html>"))
    done = run(*READERS[1])
    assert done.code == 1
    assert "http://127.0.0.1:9 cannot be read: http://127.0.0.1:9 responded with something else" in done.stderr


@given(seed=SEEDS)
@runs(0.2)
def test_commands_that_read_a_cluster(
    seed: int, quick: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    random = Random(seed)
    server = MutatedServer(random)
    serving(server)
    quick.setattr("toolkit.kube.client.Transport", server)
    folder = tmp_path_factory.mktemp("reading")
    quick.chdir(folder)
    (folder / "kubeconfig").write_text(KUBECONFIG)
    (folder / "models.yaml").write_text(MANIFESTS)
    server.share = random.choice((0.02, 0.1, 0.5))
    done = run(*random.choice(READERS))
    assert done.stdout + done.stderr
    ClusterStatus.read("kubeconfig", MODELS)
