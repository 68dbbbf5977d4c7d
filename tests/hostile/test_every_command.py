"""Every command that reads manifests, on every kind, with something wrong in two places: a report or a message.

``INFERENCE_PLATFORM_EXAMPLES`` makes it try more, as in ``test_fuzz``.
"""

import copy
import shutil
from pathlib import Path
from random import Random

import pytest
import yaml
from hypothesis import given

from components.contract.texts.printable import printable
from tests.engine.safety.conftest import KUBECONFIG
from tests.hostile import mutations
from tests.hostile.mutated_server import MutatedServer
from tests.hostile.runs import MODELS, project, run, write
from tests.hostile.test_fuzz import PREVIEW, SEEDS, names, runs
from tests.hostile.test_mutated_answers import serving
from workbench.cli import MODULES

ALONE = ("--stack", "none")
CLUSTER = ("--kubeconfig", "kubeconfig")
UP = ("--engine", "local", "--yes", "--no-wait", "--no-live", "--stack", "local", *CLUSTER)
WAYS: dict[str, tuple[tuple[str, ...], ...]] = {
    "validate": ((MODELS, *ALONE, "--output", "sarif"), (MODELS, "--other-kinds", "apply"), (MODELS, "--details")),
    "defaults": ((MODELS,),),
    "render": ((MODELS, *ALONE), (MODELS, "--expand"), (MODELS, "--literal")),
    "explain": (("{kind}/{name}", MODELS, "--all"), ("{kind}/{name}", MODELS, *ALONE)),
    "plan": (
        (MODELS, *ALONE, "--output", "json"),
        (MODELS, *ALONE, "--output", "markdown"),
        (MODELS, *ALONE, "--details"),
        ("--stack", "local", "--output", "html"),
    ),
    "migrate": (
        (MODELS, "--to-family", "kthena", "--lossy", "--stdout"),
        (MODELS, "--to-family", "llmkube", "--lossy"),
        (MODELS, "--release", "kthena=v0.3.0", "--lossy"),
        ("--stack", "local", "--release", "kthena=v0.3.0"),
    ),
    "inspect": (("--from", MODELS, "--output", "json"), ("--from", MODELS, "--output", "html")),
    "adopt": (
        ("--from", MODELS, "--dry-run", "new"),
        ("--from", MODELS, "--dry-run", "--family", "llmkube", "--output", "json", "new"),
    ),
    "size": ((MODELS, "--variant", "{name}", "--rate", "10"),),
    "simulate": (
        (MODELS, "--binding", "{name}", "--metrics", "trace.csv"),
        ("--fleet", "--trace", "requests.csv", MODELS),
    ),
    "diff": ((MODELS, *ALONE, *CLUSTER),),
    "preview": (PREVIEW[1:],),
    "up": (UP,),
    "outputs": (("--engine", "local", "--stack", "local", "--output", "json"), ("--engine", "local")),
    "eject": (
        ("--engine", "local", "--stack", "local", "--only-write", "{new}"),
        ("--engine", "local", "--stack", "local", "--yes", "{new}"),
    ),
    "destroy": (("--engine", "local", "--yes", "--stack", "local", *CLUSTER),),
    "capacity": (CLUSTER, (*CLUSTER, "--output", "json")),
    "fit-profile": ((MODELS,), (MODELS, "--output", "json")),
}
AFTER_UP = ("outputs", "eject", "destroy")
"""Commands that read what ``up`` stored."""
OTHERS = {
    *("init", "crds", "schema", "build-pulumi", "cluster", "fit"),  # read no files of others
    *("load", "watch", "fault", "speed"),  # talk to a fleet that runs
}


def test_no_command_is_missing() -> None:
    assert {name for commands in MODULES.values() for name in commands} == WAYS.keys() | OTHERS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, quick: pytest.MonkeyPatch) -> Path:
    made = tmp_path_factory.mktemp("commands")
    project(made)
    (made / "trace.csv").write_text("time,load\n0,1\n60,40\n")
    (made / "requests.csv").write_text("time,model,input_tokens,output_tokens\n0,m,10,10\n1,m,10,10\n")
    (made / "kubeconfig").write_text(KUBECONFIG)
    server = MutatedServer(Random(1))
    serving(server)
    quick.setattr("toolkit.kube.client.Transport", server)
    quick.chdir(made)
    return made


def _store(folder: Path, random: Random) -> None:
    """Run ``up``, and damage what it stored now and then."""
    shutil.rmtree(folder / ".workbench", ignore_errors=True)
    assert run("up", *UP).code in (0, 1, 2)
    for file in sorted(folder.glob(".workbench/**/local.db*")):
        content = bytearray(file.read_bytes())
        if content and random.random() < 0.3:
            for _ in range(random.choice((1, 20))):
                content[random.randrange(len(content))] = random.randrange(256)
            file.write_bytes(content[: random.choice((len(content), len(content), len(content) // 2))])
        elif random.random() < 0.1:
            file.unlink()


@pytest.mark.parametrize("command", WAYS)
@given(seed=SEEDS)
@runs(0.01)
def test_two_faults(command: str, seed: int, folder: Path) -> None:
    random = Random(seed)
    kind = random.choice(sorted(names()))
    fitting = [each for each in mutations.samples() if any(document["kind"] == kind for document in each)]
    documents = [copy.deepcopy(document) for document in random.choice(fitting)]
    name = next(document["metadata"]["name"] for document in documents if document["kind"] == kind)
    if command in AFTER_UP:
        write(folder / MODELS, yaml.safe_dump_all(documents, sort_keys=False))
        _store(folder, random)
    for _ in range(2):
        at = random.randrange(len(documents))
        documents[at] = mutations.changed(documents[at], random)
    write(folder / MODELS, yaml.safe_dump_all(documents, sort_keys=False))
    new = f"new-{random.getrandbits(40)}"
    words = [word.format(kind=kind, name=name, new=new) for word in random.choice(WAYS[command])]
    done = run(command, *words)
    assert done.code in (0, 1, 2), done.stderr
    assert done.code == 0 or done.stdout + done.stderr
    for line in (done.stdout + done.stderr).split("\n"):
        assert printable(line.replace("\t", "")) == line.replace("\t", "")
