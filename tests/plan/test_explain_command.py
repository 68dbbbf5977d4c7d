"""``workbench explain`` as its users see it."""

import os
import subprocess
from pathlib import Path

import pytest

from tests import preloaded

ROOT = Path(__file__).parents[2]


def explain(*arguments: str) -> subprocess.CompletedProcess[str]:
    return preloaded.run("explain", *arguments, env={**os.environ, "NO_COLOR": "1"})


def test_the_samples_are_what_is_meant_without_a_path() -> None:
    done = explain("Playground/gemma-elastic")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    place = lines.index("spec.elasticConfig.maxReplicas = 3")
    assert lines[place + 1] == "  HorizontalPodAutoscaler/gemma-elastic: spec.maxReplicas = 3"
    assert max(map(len, lines)) <= 80


def test_long_answers_are_cut_unless_asked_for() -> None:
    model = ("OpenModel/llama3-1-405b", "stacks/models/llama-405b-multinode.yaml")
    short, whole = explain(*model).stdout, explain(*model, "--details").stdout
    assert "more (--details)" in short
    assert short.endswith("(--details: all results, whole values)\n")
    assert "(--details" not in whole
    assert explain(*model, "--all").stdout == whole, "the earlier name of the option"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("Playground/gema-elastic",), 2, "did you mean 'Playground/gemma-elastic'?"),
        (("gemma-elastic", "stacks/models/gemma-elastic.yaml"), 2, "Playground/gemma-elastic"),
        (("Playground/x", "absent.yaml"), 1, "absent.yaml"),
        (
            ("Playground/gemma-elastic", "--workload", "statefulset"),
            2,
            "--workload: must be one of auto, lws, deployment, found 'statefulset'",
        ),
    ],
)
def test_what_is_wrong_is_said_without_a_traceback(arguments: tuple[str, ...], code: int, text: str) -> None:
    done = explain(*arguments)
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr


def test_validate_knows_the_metrics_that_engines_export(tmp_path: Path) -> None:
    sample = (ROOT / "stacks" / "models" / "gemma-elastic.yaml").read_text()
    (tmp_path / "m.yaml").write_text(sample.replace("vllm:num_requests_waiting", "vllm:num_requests_waitin"))
    done = preloaded.run("validate", tmp_path, env=os.environ)
    assert done.returncode == 1
    assert "spec.elasticConfig.scaleTrigger.hpa.metrics[0]" in done.stdout
    assert "vllm:num_requests_waiting" in done.stdout
