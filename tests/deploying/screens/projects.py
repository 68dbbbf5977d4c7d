"""Projects of any number of models, and their commands on a pipe and on a terminal of a given width."""

import fcntl
import os
import pty
import re
import struct
import termios
from pathlib import Path

import yaml

from tests import preloaded

ROOT = Path(__file__).parents[3]
SIZES = (1, 30, 300)
WIDTHS = (80, 120)
LINES = 24
"""Lines of the terminal that was there first; its descendants start with as many."""
_MODELS = (
    ("Qwen/Qwen2-7B-Instruct", "qwen2-7b", "g5.2xlarge", 1),
    ("meta-llama/Llama-3.1-8B-Instruct", "llama3-8b", "g6e.2xlarge", 1),
    ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b", "g6.2xlarge", 1),
    ("Qwen/Qwen2.5-32B-Instruct", "qwen2-5-32b", "g6e.12xlarge", 4),
    ("microsoft/Phi-4-mini-instruct", "phi4-mini", "g6.2xlarge", 1),
)
_TASKS = ("chat", "support", "search", "code", "summary", "legal")
_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def model(name: str, number: int) -> str:
    """Return an OpenModel and a Playground of that name."""
    repository, family, instance_type, gpus = _MODELS[number % len(_MODELS)]
    flavor = {
        "name": f"gpu-{gpus}",
        "limits": {"nvidia.com/gpu": gpus},
        "params": {"INSTANCE-TYPE": instance_type, "TP": str(gpus)},
    }
    served = {
        "apiVersion": "llmaz.io/v1alpha1",
        "kind": "OpenModel",
        "metadata": {"name": name},
        "spec": {
            "familyName": family.partition("-")[0],
            "source": {"modelHub": {"modelID": repository}},
            "inferenceConfig": {"flavors": [flavor]},
        },
    }
    playground = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": name},
        "spec": {
            "replicas": 1 + number % 3,
            "modelClaim": {"modelName": name},
            "backendRuntimeConfig": {"args": ["--max-model-len", "8192"]},
        },
    }
    return yaml.safe_dump_all([served, playground], sort_keys=False)


def names(count: int) -> list[str]:
    """Return the names of the models of a project: one word, or task, family and number."""
    if count == 1:
        return ["chat"]
    return [f"{_TASKS[n % len(_TASKS)]}-{_MODELS[n % len(_MODELS)][1]}-{n + 1}" for n in range(count)]


def project(folder: Path, count: int) -> Path:
    """Write a project with a stack for the simulated cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    for name in ("__main__.py", "components", "stacks"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "models").mkdir()
    for number, name in enumerate(names(count)):
        (folder / "models" / f"{name}.yaml").write_text(model(name, number))
    settings = {
        "models": ["models"],
        "kubeconfig": ".workbench/kubeconfig",
        "simulatedNodes": True,
        "runtimes": "current",
    }
    config = {f"inference-platform:{key}": value for key, value in settings.items()}
    (folder / "Pulumi.local.yaml").write_text(yaml.safe_dump({"config": config}))
    return folder


def broken_project(folder: Path) -> Path:
    """Write a project of eight models, with mistakes of several kinds: of memory, names, values and flags."""
    project(folder, 1)
    for number in range(1, 8):
        (folder / "models" / f"chat-{number}.yaml").write_text(model(f"chat-{number}", number))
    edits = {
        # More GPUs than the instance has.
        "chat-1": ("nvidia.com/gpu: 1", "nvidia.com/gpu: 2"),
        # A name that is not declared.
        "chat-2": ("modelName: chat-2", "modelName: chat-22"),
        # A misspelt field, and a word instead of a number.
        "chat-4": ("replicas: 2", "replica: two"),
        # More memory than the GPUs have.
        "chat-5": ("Qwen/Qwen2-7B-Instruct", "Qwen/Qwen2.5-72B-Instruct"),
        # A value and a name of a flag.
        "chat-6": ("'8192'", "16kk"),
        "chat-7": ("--max-model-len", "--max-model-length"),
    }
    for name, (before, after) in edits.items():
        file = folder / "models" / f"{name}.yaml"
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, after))
    return folder


def _environment() -> dict[str, str]:
    left = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "KUBECONFIG")
    return {key: value for key, value in os.environ.items() if key not in left} | {"PYTHONPATH": str(ROOT)}


def piped(*words: str, cwd: Path = ROOT, width: int = 80, code: int = 0) -> str:
    """Run a command whose output is a pipe."""
    env = _environment() | ({"COLUMNS": str(width)} if width != 80 else {})
    done = preloaded.run(*words, cwd=cwd, env=env, finds_folder=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def on_terminal(*words: str, cwd: Path = ROOT, width: int = 80, code: int = 0, **extra: str) -> str:
    """Run a command whose output is a terminal of that width."""
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, width, 0, 0))
    env = _environment() | {"TERM": "xterm-256color"} | extra
    with Path(os.devnull).open("wb") as nothing:
        streams = {"stdin": other, "stdout": other, "stderr": nothing.fileno()}
        child = preloaded.start(*words, cwd=cwd, env=env, finds_folder=False, **streams)
    os.close(other)
    written = b""
    while True:
        try:
            part = os.read(own, 65536)
        except OSError:  # the child has ended
            break
        if not part:
            break
        written += part
    assert child.wait() == code
    os.close(own)
    return written.decode().replace("\r\n", "\n")


def without_styles(text: str) -> str:
    return _STYLE.sub("", text)
