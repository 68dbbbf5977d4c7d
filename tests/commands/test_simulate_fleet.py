"""``workbench simulate --fleet``: what it prints, and what it refuses."""

import json
import struct
from pathlib import Path

import pytest

from tests.commands.support import workbench

MANIFESTS = """
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen2-7b}
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2-7B-Instruct}}
  inferenceConfig:
    flavors: [{name: a10g, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g5.2xlarge}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec:
  replicas: 2
  modelClaim: {modelName: qwen2-7b}
  backendRuntimeConfig: {args: [--max-model-len, "8192"]}
"""
PUBLISHED = {
    "azure.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
    "2023-11-16 18:15:50.9951690,396,109\n",
    "burstgpt.csv": "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    "5,ChatGPT,374,44,418,Conversation log\n9.314579,GPT-4,396,109,505,API log\n",
    "mooncake.jsonl": '{"timestamp": 27482, "input_length": 374, "output_length": 44, "hash_ids": [46, 47]}\n'
    '{"timestamp": 31796.579, "input_length": 396, "output_length": 109, "hash_ids": [46]}\n',
    "own.csv": "time,input_tokens,output_tokens\n0,374,44\n4.314579,396,109\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chat.yaml").write_text(MANIFESTS)
    for name, text in PUBLISHED.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def fleet(folder: Path, *options: str | Path) -> tuple[int, str, str]:
    done = workbench("simulate", folder / "chat.yaml", "--fleet", *options, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def test_published_traces_give_the_same_result(folder: Path) -> None:
    """The same two requests in four formats."""
    results = []
    for name in PUBLISHED:
        code, out, _ = fleet(folder, "--trace", name, "--output", "json")
        assert code == 0
        results.append(json.loads(out))
    assert all(result["total"] == results[0]["total"] for result in results)
    (model,) = results[0]["models"]
    assert (model["name"], model["requests"], model["answered"]) == ("chat", 2, 2)
    assert (model["inputTokens"], model["outputTokens"]) == (374 + 396, 44 + 109)
    assert results[0]["total"]["gpuHours"] == pytest.approx(2 * 4.314579 / 3600, abs=1e-5)


def test_the_table_names_what_is_left_out(folder: Path) -> None:
    code, out, err = fleet(folder, "--trace", "chat=own.csv", "--scale", "3")
    assert code == 0
    assert out.startswith("manifests: 6 requests, 0 lost; ")
    assert "Replicas" not in out
    assert len(out.splitlines()) <= 24
    assert "\nReplicas\n" in fleet(folder, "--trace", "chat=own.csv", "--details")[1]
    assert "note: Prefix caches are not simulated" in err
    assert "note: This stack does not manage nodes" in err


def test_a_plot(folder: Path) -> None:
    assert fleet(folder, "--trace", "own.csv", "--plot", folder / "plot.png")[0] == 0
    head = (folder / "plot.png").read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    assert min(struct.unpack(">II", head[16:])) > 300


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--trace is required: pass a file with requests"),
        (
            ["--trace", "own.csv", "--binding", "chat"],
            "--binding is for the autoscaler of a binding; leave out --fleet",
        ),
        (["--trace", "own.csv", "--every", "15"], "--every is for the autoscaler of a binding; leave out --fleet"),
        (["--trace", "chta=own.csv"], "--trace: the stack has no model 'chta'; did you mean 'chat'?"),
        (["--trace", "broken.csv"], "--trace: broken.csv:3: input_tokens: must be a whole number of tokens"),
    ],
)
def test_what_is_refused(folder: Path, options: list[str], told: str) -> None:
    (folder / "broken.csv").write_text("time,input_tokens,output_tokens\n0,1,1\n1,x,1\n")
    code, _, err = fleet(folder, *options)
    assert code == 2
    assert told in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--trace", "own.csv"], "--trace is for all models; add --fleet, or pass --binding and --metrics"),
        ([], "--binding is required; to simulate all models, pass --fleet with --trace"),
        (["--binding", "chat"], "--metrics is required; to simulate all models, pass --fleet with --trace"),
    ],
)
def test_options_of_the_other_simulation(folder: Path, options: list[str], told: str) -> None:
    done = workbench("simulate", folder / "chat.yaml", *options, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_errors_of_the_plan_come_first(folder: Path) -> None:
    (folder / "chat.yaml").write_text(MANIFESTS.replace("modelName: qwen2-7b", "modelName: other"))
    code, _, err = fleet(folder, "--trace", "own.csv")
    assert code == 1
    assert "other" in err
