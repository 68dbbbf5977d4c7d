"""Git repositories with a project in them, and what is compared of their folders."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.commands.support import ROOT, workbench

MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec:
  familyName: qwen2
  source: {{modelHub: {{modelID: Qwen/Qwen2.5-0.5B-Instruct}}}}
  inferenceConfig:
    flavors: [{{name: l4, limits: {{nvidia.com/gpu: 1}}, params: {{INSTANCE-TYPE: g6.2xlarge}}}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  modelClaim: {{modelName: {name}}}
"""
SETTINGS = """\
config:
  inference-platform:models: [{models}]
  inference-platform:kubeconfig: nowhere
  inference-platform:simulatedNodes: true
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git with an author, and without anybody's settings."""
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "t@t.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=env).stdout.decode(errors="replace").strip()


def write_project(folder: Path, models: str = "models") -> Path:
    """Write a project whose code is that of the checkout; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "Pulumi.dev.yaml").write_text(SETTINGS.format(models=models))
    write_model(folder / "models" / "chat.yaml")
    return folder


def write_model(path: Path, name: str = "chat", replicas: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MODEL.format(name=name, replicas=replicas))


def commit(folder: Path, message: str = "more") -> str:
    """Commit everything; returns the hash."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path) -> Path:
    """Make a repository with a project on the branch main."""
    write_project(folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "first")
    return folder


def fingerprint(folder: Path) -> str:
    """Return a digest of all files, their times and their links, those of .git among them."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        facts = (str(path), status.st_mode, status.st_mtime_ns if path.is_file() else 0)
        digest.update(repr(facts).encode(errors="surrogateescape") + content)
    return digest.hexdigest()


def plan(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Plan the stack dev of a folder, with everything that is known of it."""
    return workbench("plan", "--stack", "dev", "--cwd", folder, "--details", *arguments)
