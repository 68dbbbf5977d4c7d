"""Every command, on every kind, with something wrong in two places: a report or a message.

Commands that read other files get damaged ones, and commands that take only words get odd words.

``INFERENCE_PLATFORM_EXAMPLES`` makes it try more, as in ``test_fuzz``.
"""

import copy
import json
import shutil
from pathlib import Path
from random import Random

import pytest
import yaml
from hypothesis import given

from components.contract.texts.printable import printable
from tests.checks.memory.test_gguf import header as gguf_header
from tests.engine.safety.conftest import KUBECONFIG
from tests.hostile import mutations
from tests.hostile.mutated_server import MutatedServer
from tests.hostile.runs import MODELS, Printed, project, run, write
from tests.hostile.test_fuzz import PREVIEW, SEEDS, names, runs
from tests.hostile.test_mutated_answers import serving
from workbench.cli import MODULES
from workbench.cluster.members import PORTS

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
WITHOUT_MANIFESTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "init": (("{new}",), ("{odd}", "--family", "kthena", "--ci", "gitlab"), ("{new}", "--region", "{odd}")),
    "crds": ((), ("--release", "{odd}"), ("--release", "kthena={odd}")),
    "schema": (("{kind}",), ("{odd}",), ("{kind}", "--release", "{odd}")),
    "fit": (
        ("model/config.json",),
        ("model", "--output", "json"),
        ("model.gguf", "--details"),
        ("{odd}",),
        ("--parameters", "{odd}", "--max-len", "10"),
        ("qwen2.5-14b-instruct", "--gpu", "{odd}"),
        ("model", "--engine", "{odd}", "--arg", "{odd}"),
    ),
    "load": (
        ("--url", "http://127.0.0.1:9", "--trace", "damaged.csv", "--save", "{new}.html"),
        ("--model", "{odd}", "--duration", "1s"),
        ("--url", "{odd}", "--model", "m", "--duration", "1s"),
    ),
    "watch": (("--once", "--output", "json"), ("--once", "--filter", "{odd}")),
    "fault": (("pod", "{odd}"), ("{odd}",)),
    "speed": ((), ("--answers", "10"), ("--starts", "{odd}")),
    "cluster": (("status",), ("status", "--details")),
}
"""Other commands; ``odd`` is a word of anything, and ``new`` a name that is not used."""
EXCEPTIONS = {"build-pulumi": "takes no input, and compiles the Pulumi CLI"}
"""Commands that are not tried, and why. ``cluster start`` runs a control plane, and ``stop`` ends processes."""


def test_no_command_is_missing() -> None:
    tried = WAYS.keys() | WITHOUT_MANIFESTS.keys()
    assert {name for commands in MODULES.values() for name in commands} == tried | EXCEPTIONS.keys()
    assert not tried & EXCEPTIONS.keys()
    assert all(EXCEPTIONS.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, quick: pytest.MonkeyPatch) -> Path:
    made = tmp_path_factory.mktemp("commands")
    project(made)
    (made / "trace.csv").write_text("time,load\n0,1\n60,40\n")
    (made / "requests.csv").write_text("time,model,input_tokens,output_tokens\n0,m,10,10\n1,m,10,10\n")
    (made / "model").mkdir()
    (made / ".workbench/live").mkdir(parents=True)
    (made / ".workbench/cluster").mkdir()
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


MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
LIVE = {
    "fleet.json": {"stack": "local", "workloads": [], "endpoints": []},
    "addresses-pods.json": {
        "control": "http://127.0.0.1:9",
        "token": "t",
        "endpoints": {"m": "http://127.0.0.1:9/v1"},
    },
    "addresses-door.json": {"door": "http://127.0.0.1:9", "prometheus": "http://127.0.0.1:9"},
}


def _damage(folder: Path, random: Random) -> None:
    """Write the files that these commands read, of which some are damaged."""

    def text_of(value: object) -> str:
        for _ in range(random.choice((0, 1, 1, 3))):
            value = mutations.changed(value, random)
        text = json.dumps(value)
        return text if random.random() < 0.8 else mutations.text_with_changes(text, random)

    write(folder / "model/config.json", text_of(MODEL))
    header = bytearray(gguf_header())
    for _ in range(random.choice((0, 1, 1, 20))):
        header[random.randrange(len(header))] = random.randrange(256)
    (folder / "model.gguf").write_bytes(header[: random.choice((len(header), len(header), len(header) // 2))])
    write(folder / "damaged.csv", mutations.text_with_changes((folder / "requests.csv").read_text(), random))
    for name, value in LIVE.items():
        write(folder / ".workbench/live" / name, text_of(value))
    write(folder / ".workbench/cluster/ports.json", text_of(dict.fromkeys(PORTS, 9)))


@pytest.mark.parametrize("command", WITHOUT_MANIFESTS)
@given(seed=SEEDS)
@runs(0.01)
def test_odd_words_and_damaged_files(command: str, seed: int, folder: Path) -> None:
    random = Random(seed)
    _damage(folder, random)
    # No program gets a word with U+0000, and a folder of a word with slashes would be anywhere.
    odd = random.choice([word for word in mutations.HOSTILE if "\x00" not in word and "/" not in word])
    new = f"new-{random.getrandbits(40)}"
    kind = random.choice(sorted(names()))
    way = random.choice(WITHOUT_MANIFESTS[command])
    _checked(run(command, *(word.format(kind=kind, odd=odd, new=new) for word in way)))


def _checked(done: Printed) -> None:
    assert done.code in (0, 1, 2), done.stderr
    assert done.code == 0 or done.stdout + done.stderr
    for line in (done.stdout + done.stderr).split("\n"):
        assert printable(line.replace("\t", "")) == line.replace("\t", "")


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
    _checked(run(command, *words))
