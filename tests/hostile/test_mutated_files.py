"""Files of others with anything in them: kubeconfigs, exports of clusters, and traces end in a report or a message.

``INFERENCE_PLATFORM_EXAMPLES`` makes it try more, as in ``test_fuzz``.
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given

from tests.commands import simulations
from tests.hostile import mutations
from tests.hostile.mutated_server import MutatedServer
from tests.hostile.runs import run, write
from tests.hostile.test_fuzz import SEEDS, runs
from tests.hostile.test_mutated_answers import MANIFESTS, serving
from tests.inspecting.objects import container, deployment, group, hpa, live, node, pod, service

CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "default"}}],
    "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:9", "insecure-skip-tls-verify": False}}],
    "users": [
        {"name": "u", "user": {"token": "t", "client-certificate-data": "YQ==", "client-key-data": "YQ=="}},
        {"name": "v", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nowhere/x"}}},
    ],
}
CHAT = live(deployment("chat", container()))
EXPORTED = [
    CHAT,
    live(group("group")),
    live(hpa(CHAT)),
    pod(CHAT, "x", "n"),
    service("chat", "chat"),
    node("n", "g5.xlarge"),
]
EXPORT = {"apiVersion": "v1", "kind": "List", "items": EXPORTED}


def text_of(value: Any, random: Random) -> str:
    """Return a value with changes as YAML, whose text may be changed as well."""
    for _ in range(random.choice((0, 1, 1, 2, 4))):
        value = mutations.changed(value, random)
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=random.random() < 0.5)
    return text if random.random() < 0.7 else mutations.text_with_changes(text, random)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("files")
    simulations.write(made)
    (made / "group.yaml").write_text(MANIFESTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        server = MutatedServer(Random(1))
        serving(server)
        patch.setattr("toolkit.kube.client.Transport", server)
        yield made


@given(seed=SEEDS)
@runs(0.2)
def test_kubeconfigs(seed: int, folder: Path) -> None:
    random = Random(seed)
    write(folder / "config", text_of(copy.deepcopy(CONFIG), random))
    command = random.choice((("inspect",), ("adopt", "--dry-run", "new"), ("diff", "--stack", "none", "group.yaml")))
    done = run(*command, "--kubeconfig", "config", *random.choice(((), ("--context", "c"), ("--context", "\u202e"))))
    assert done.code in (0, 1, 2)


@given(seed=SEEDS)
@runs(0.3)
def test_exports_of_a_cluster(seed: int, folder: Path) -> None:
    random = Random(seed)
    write(folder / "export.yaml", text_of(copy.deepcopy(random.choice((EXPORT, *EXPORTED))), random))
    command = random.choice(
        (
            ("inspect", "--from", "export.yaml", "--output", random.choice(("text", "json", "html"))),
            ("adopt", "--from", "export.yaml", "--dry-run", "new"),
            ("adopt", "--from", "export.yaml", "--dry-run", "--family", "kthena", "new"),
            ("validate", "export.yaml", "--stack", "none", "--other-kinds", "apply"),
            ("migrate", "export.yaml", "--to-family", "kthena", "--lossy"),
            ("plan", "export.yaml", "--stack", "none", "--output", "json"),
        )
    )
    done = run(*command)
    assert done.code in (0, 1, 2)


@given(seed=SEEDS)
@runs(0.1)
def test_traces(seed: int, folder: Path) -> None:
    random = Random(seed)
    text = (folder / random.choice(("trace.csv", "trace.jsonl", "both.csv"))).read_text()
    write(folder / "other", mutations.text_with_changes(text, random))
    done = run("simulate", "models.yaml", "--binding", random.choice(("chat", "both")), "--metrics", "other")
    assert done.code in (0, 1, 2)
