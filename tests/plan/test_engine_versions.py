"""Versions between or beyond the tables of flags are named once, with the releases to use instead."""

import json
from pathlib import Path

import pytest

from components.contract.findings.ids import RuleId
from components.contract.problems import Problem
from components.families import load
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.commands.support import workbench

ENGINES = {
    "vllm": ("vllm/vllm-openai", "[--model, org/m]"),
    "sglang": ("lmsysorg/sglang", "[python3, -m, sglang.launch_server, --model-path, org/m]"),
    "tgi": ("ghcr.io/huggingface/text-generation-inference", "[--model-id, org/m]"),
    "llamacpp": ("ghcr.io/ggml-org/llama.cpp", "[-m, /m.gguf]"),
}
MANIFEST = """\
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: m{number}, namespace: models}}
spec:
  leaderWorkerTemplate:
    size: 1
    workerTemplate:
      spec:
        containers:
        - {{name: main, image: "{image}:{tag}", args: {args}}}
"""


def write(folder: Path, servers: list[tuple[str, str]]) -> Path:
    path = folder / "servers.yaml"
    texts = [
        MANIFEST.format(number=number, image=ENGINES[engine][0], tag=tag, args=ENGINES[engine][1])
        for number, (engine, tag) in enumerate(servers)
    ]
    path.write_text("".join(texts))
    return path


def notes(folder: Path, *servers: tuple[str, str]) -> list[Problem]:
    problems = plan(load([write(folder, [*servers])]), Environment()).problems
    return [problem for problem in problems if problem.rule == RuleId.FLAGS_INEXACT]


@pytest.mark.parametrize(
    ("servers", "reason"),
    [
        # Between two releases, before the first and after the last one.
        ([("vllm", "v0.8.6")], "vllm 0.8.6 are not known exactly; use vllm 0.8.5.post1 or 0.9,"),
        ([("vllm", "v0.6.2")], "vllm 0.6.2 are not known exactly; use vllm 0.7,"),
        ([("vllm", "v9.1.0")], "vllm 9.1 are not known exactly; use vllm 0.33,"),
        ([("tgi", "3.4.0")], "tgi 3.4 are not known exactly; use tgi 3.3.7,"),
        ([("llamacpp", "server-b10600")], "llamacpp b10600 are not known exactly; use llamacpp b10588 or b10705,"),
        ([("llamacpp", "server-b99999")], "llamacpp b99999 are not known exactly; use llamacpp b11434,"),
        # All of them in one note.
        (
            [("vllm", "v9.1.0"), ("vllm", "v0.20.0"), ("vllm", "v9.2.0"), ("vllm", "v9.1.0"), ("sglang", "v9.9.0")],
            "vllm 9.1 or 9.2 and of sglang 9.9 are not known exactly; use vllm 0.33 and sglang 0.5.23,",
        ),
    ],
)
def test_versions_without_an_exact_table_are_named_once(
    tmp_path: Path, servers: list[tuple[str, str]], reason: str
) -> None:
    (note,) = notes(tmp_path, *servers)
    assert note.reason.startswith(f"the flags of {reason}")
    assert note.severity == "note"


@pytest.mark.parametrize(
    "server",
    [
        ("vllm", "v0.20.0"),
        ("sglang", "v0.5.9"),
        ("tgi", "3.3.6"),
        ("llamacpp", "server-cuda-b6500"),
        # No version is stated, or another program's.
        ("vllm", "latest"),
        ("vllm", "nightly-e2fa28594f7baad142a426b0b6a2cfe2c79201c7"),
        ("llamacpp", "server"),
        ("llamacpp", "light-b99999"),
    ],
)
def test_no_note_without_a_version_that_is_missing(tmp_path: Path, server: tuple[str, str]) -> None:
    assert notes(tmp_path, server) == []


def test_commands_say_it_once(tmp_path: Path) -> None:
    said = "the flags of vllm 9.1 are not known exactly"
    path = write(tmp_path, [("vllm", "v9.1.0"), ("vllm", "v9.1.0")])
    for command in ("validate", "plan"):
        assert " ".join(workbench(command, path).stdout.split()).count(said) == 1, command
    for command, output in (("validate", "json"), ("plan", "json"), ("plan", "markdown")):
        assert said in workbench(command, path, "--output", output).stdout, (command, output)
    document = json.loads(workbench("validate", path, "--output", "json").stdout)
    assert [entry["rule"] for entry in document if said in entry["reason"]] == ["flags-inexact"]
    known = write(tmp_path, [("vllm", "v0.20.0")])
    for command in ("validate", "plan"):
        assert "not known exactly" not in workbench(command, known, "--details").stdout
