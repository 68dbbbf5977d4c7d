"""Seven pull requests against a small project: what each of them edits."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
HERE = Path(__file__).parent
CODE = ("components", "stacks", "toolkit", "livefleet", "workbench")
MOVED = """\
# Answers customers: one to three replicas by the requests that wait.
apiVersion: workload.serving.volcano.sh/v1alpha1
kind: ModelBooster
metadata:
  name: chat
spec:
  backends:
    - name: gpu
      type: vLLM
      modelURI: hf://Qwen/Qwen2.5-7B-Instruct
      minReplicas: 1
      maxReplicas: 3
      autoscalingPolicy:
        tolerancePercent: 10
        metrics:
          - metricName: vllm:num_requests_waiting
            targetValue: "5"
      workers:
        - image: vllm/vllm-openai:v0.20.0
          replicas: 1
          pods: 1
          config: {max-model-len: 16384}
          resources:
            requests: {cpu: "6", memory: 32Gi}
            limits: {nvidia.com/gpu: "1", memory: 32Gi}
          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions:
                      - {key: node.kubernetes.io/instance-type, operator: In, values: [g6e.2xlarge]}
"""
CHANGES: dict[str, dict[str, tuple[str, str]]] = {
    "raised-bound": {"models/chat.yaml": ("maxReplicas: 3", "maxReplicas: 6")},
    "other-type": {"models/chat.yaml": ("INSTANCE-TYPE: g6e.2xlarge", "INSTANCE-TYPE: g6.2xlarge")},
    "renamed": {"models/reason.yaml": ("  name: reason\n", "  name: think\n")},
    "scaled": {"models/coder.yaml": ("replicas: 2", "replicas: 3")},
    "broken-flag": {"models/reason.yaml": ("--max-model-len", "--max-modle-len")},
    "edited-comment": {"models/coder.yaml": ("# Completes code: a", "# Completes what programmers type: a")},
    "moved-family": {"models/chat.yaml": ("", MOVED)},
}
"""What is edited, by file: a text, and what is written in its place; without a text, the whole file."""
_DAY = "2026-11-01T12:00:00Z"
_WHO = {"NAME": "shop", "EMAIL": "shop@example.com", "DATE": _DAY}
_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(folder: Path, *arguments: str) -> None:
    """Run git, with nobody's settings."""
    who = {f"GIT_{role}_{what}": text for role in ("AUTHOR", "COMMITTER") for what, text in _WHO.items()}
    environ = {**os.environ, **_ALONE, **who}
    subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    """Make the project with its code, as its main branch has it."""
    shutil.copytree(HERE / "project", folder)
    for name in CODE:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "models", "variants")
        )
    (folder / "docs").mkdir()
    for name in ("__main__.py", "Pulumi.yaml", "docs/findings.md"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "The shop")
    return folder


def pull_request(main: Path, folder: Path, name: str) -> Path:
    """Clone the project, and commit what a pull request edits."""
    git(main, "clone", "--quiet", "--shared", str(main), str(folder))
    git(folder, "checkout", "--quiet", "-b", name)
    for file, (before, after) in CHANGES[name].items():
        path = folder / file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1 or not before, (file, before)
        path.write_text(text.replace(before, after) if before else after, encoding="utf-8")
    git(folder, "commit", "--quiet", "--all", "--message", name)
    return folder


def planned(folder: Path, *arguments: str, seed: str = "random") -> subprocess.CompletedProcess[str]:
    """Run ``workbench plan`` in a project, by its own code, as a runner without a code host would.

    Args:
        folder: The project.
        arguments: What follows.
        seed: Of Python's hashes, on which nothing must depend.
    """
    hosts = ("GITHUB_", "CI_")
    environ = {key: value for key, value in os.environ.items() if not key.startswith(hosts)}
    command = [sys.executable, "-m", "workbench", "plan", "--stack", "dev", *arguments]
    environ |= {"PYTHONPATH": str(folder), "PYTHONHASHSEED": seed}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
