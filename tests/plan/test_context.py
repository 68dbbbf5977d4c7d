"""Contexts above the one in the model's configuration.

vLLM ends at its start ("User-specified max_model_len (100000) is greater than the derived max_model_len"), unless
VLLM_ALLOW_LONG_MAX_MODEL_LEN is set or the configuration is overridden (vllm/config, _get_and_verify_max_len).
"""

from pathlib import Path

import pytest
import yaml

from components.checks.memory.shapes import Layers, Shape
from components.checks.memory.workloads.known import KnownShapes, OwnShape
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.families import load
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.plan.test_memory import FAMILIES, FIELDS, SET

QWEN = "Qwen/Qwen3-8B"
"""Its max_position_embeddings are 40,960."""
YARN = '{"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}'
SHAPES = KnownShapes(
    {
        QWEN: OwnShape(
            Shape(QWEN, dtype="bfloat16", weights_bytes=2**30, layers=(Layers(8, 8, 64, 64),), max_context=40_960),
            is_sized=True,
        )
    }
)


def found(path: Path, text: str) -> list[Problem]:
    path.write_text(text, encoding="utf-8")
    problems = plan(load([path]), Environment(shapes=SHAPES)).problems
    return [problem for problem in problems if problem.rule == RuleId.CONTEXT_TOO_LONG]


@pytest.mark.parametrize(("text", "values", "path"), FIELDS, ids=FAMILIES)
@pytest.mark.parametrize(("context", "count"), [("131072", 1), ("40961", 1), ("40960", 0)])
def test_a_longer_context_is_reported_where_it_is_written(
    tmp_path: Path, text: str, values: dict[str, object], path: str, context: str, count: int
) -> None:
    written = {key: str(value).replace("131072", context) for key, value in values.items()}
    problems = found(tmp_path / "m.yaml", text.format(model=QWEN, type="g6.12xlarge", **written))
    assert [(problem.severity, problem.path) for problem in problems] == [(Severity.WARNING, path)] * count
    for problem in problems:
        assert (
            f"has a context of 40,960 tokens, and vllm does not start with a longer one, found {int(context):,}"
            in (problem.reason)
        )


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 1),
        ({"env": [{"name": "OTHER", "value": "1"}]}, 1),
        ({"env": [{"name": "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "value": "1"}]}, 0),
        ({"env": [{"name": "VLLM_ALLOW_LONG_MAX_MODEL_LEN", "value": "0"}]}, 1),
        # The variables of a Secret are unknown.
        ({"envFrom": [{"secretRef": {"name": "s"}}]}, 0),
        ({"image": "vllm/vllm-openai:v0.8.5", "more": ["--rope-scaling", '{"rope_type": "yarn", "factor": 4.0}']}, 0),
        ({"more": ["--hf-overrides", '{"max_position_embeddings": 131072}']}, 0),
        ({"more": ["--hf-overrides", f'{{"rope_scaling": {YARN}}}']}, 0),
        ({"more": ["--hf-overrides", f'{{"rope_scaling": {YARN.replace("4.0", "2.0")}}}']}, 1),
        ({"more": ["--hf-overrides.rope_scaling.type", "linear", "--hf-overrides.rope_scaling.factor", "2"]}, 1),
        ({"model": "org/Qwen3-8B-of-another-context"}, 0),
    ],
)
def test_what_extends_the_context(tmp_path: Path, changes: dict[str, object], count: int) -> None:
    body = yaml.safe_load(SET.format(model=changes.pop("model", QWEN), type="g6.12xlarge", context=100_000))
    (container,) = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    container["args"] += changes.pop("more", [])
    container |= changes
    assert len(found(tmp_path / "m.yaml", yaml.safe_dump(body))) == count


@pytest.mark.parametrize(
    ("tag", "variable", "count"), [("v0.5.9", "", 1), ("v0.4.10", "", 0), ("v0.5.9", "1", 0), ("v0.5.9", "0", 1)]
)
def test_sglang_refuses_a_longer_context_since_its_release(
    tmp_path: Path, tag: str, variable: str, count: int
) -> None:
    """_derive_context_length: a warning up to 0.4.10, unless SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN is 0."""
    body = yaml.safe_load(SET.format(model=QWEN, type="g6.12xlarge", context=100_000))
    (container,) = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    command = ["python3", "-m", "sglang.launch_server", "--model-path", QWEN, "--context-length", "100000"]
    container |= {"image": f"lmsysorg/sglang:{tag}", "command": command, "args": []}
    if variable:
        container["env"] = [{"name": "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN", "value": variable}]
    assert len(found(tmp_path / "m.yaml", yaml.safe_dump(body))) == count


def test_other_engines_start_with_longer_contexts(tmp_path: Path) -> None:
    """llama.cpp logs a warning (n_ctx_seq > n_ctx_train)."""
    body = yaml.safe_load(SET.format(model=QWEN, type="g6.12xlarge", context=100_000))
    (container,) = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    container |= {"image": "ghcr.io/ggml-org/llama.cpp:server-cuda", "args": ["-m", QWEN, "--ctx-size", "100000"]}
    assert found(tmp_path / "m.yaml", yaml.safe_dump(body)) == []
