"""Commands take time in proportion to manifests, whatever there is much of."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.families.leaderworkerset.sets import group
from tests.fleets import runner
from tests.hostile.runs import MODELS, run

SHORT, LONG = 250, 1_000
LINEAR, QUADRATIC = 4, 16
"""Growth of the time with four times as many items."""


def manifest(count: int, **container: Any) -> dict[str, Any]:
    fields = {"image": "vllm/vllm-openai:v0.11.0", "args": ["--model", "a/b"], **container}
    return group(f"m{count}", workerTemplate={"spec": {"containers": [runner(**fields)]}})


def booster(number: int) -> dict[str, Any]:
    """Return a manifest that each later release of its API writes otherwise; all lines but one are alike."""
    worker = {"image": "vllm/vllm-openai:v0.20.0", "config": {"max-model-len": 32768}}
    backend = {"name": "a", "type": "vLLM", "modelURI": "hf://a/b", "minReplicas": 2, "maxReplicas": 2}
    return {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelBooster",
        "metadata": {"name": f"m{number}"},
        "spec": {"backends": [{**backend, "workers": [worker]}]},
    }


def boosters_behind_routes(number: int) -> list[dict[str, Any]]:
    """Return a booster, and a route and a server that lead to the pods that it generates."""
    one = booster(number)
    selector = {"matchLabels": {"modelserving.volcano.sh/name": f"m{number}-a"}}
    port = {"workloadPort": {"port": 8000}, "inferenceEngine": "vLLM", "model": "a/b"}
    target = [{"name": "all", "targetModels": [{"modelServerName": f"s{number}"}]}]
    server, route = (
        {
            "apiVersion": "networking.serving.volcano.sh/v1alpha1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        for kind, name, spec in (
            ("ModelServer", f"s{number}", {"workloadSelector": selector, **port}),
            ("ModelRoute", f"r{number}", {"modelName": f"m{number}", "rules": target}),
        )
    )
    return [one, server, route]


COMMANDS = [
    ("plan", "--stack", "none"),
    ("validate", "--stack", "none"),
    ("render", "--stack", "none"),
    ("dev defaults",),
    ("inspect --from", "--output", "json"),
    ("adopt --from", "--dry-run", "new"),
    ("migrate", "--to-family", "kthena", "--lossy"),
    ("migrate", "--release", "kthena=v1.0.0", "--lossy"),
]
MUCH: dict[str, Callable[[int], list[dict[str, Any]]]] = {
    "documents": lambda count: [manifest(number) for number in range(count // 10)],
    "variables": lambda count: [
        manifest(0, env=[{"name": f"A{n}", "value": f"$(A{n - 1})/x"} for n in range(count)])
    ],
    "arguments": lambda count: [
        manifest(0, args=["--model", "a/b", *[f"--max-model-lenn{n}" for n in range(count)]])
    ],
    "commands of a script": lambda count: [
        manifest(0, command=["sh", "-c", "\n".join(f"export A{n}=$A{n - 1}; vllm serve a/b" for n in range(count))])
    ],
    "unknown fields": lambda count: [{**manifest(0), **{f"specc{n}": n for n in range(count)}}],
    "boosters behind routes": lambda count: [each for n in range(count // 10) for each in boosters_behind_routes(n)],
    "edited documents": lambda count: [booster(number) for number in range(count)],
    "a long text": lambda count: [manifest(0, args=["--model", "a\u202e" * 50 * count])],
}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("much", MUCH)
def test_time_grows_linearly(
    much: str, command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def seconds(count: int) -> float:
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        Path(MODELS).write_text(yaml.dump_all(MUCH[much](count), Dumper=dumper))
        begun = time.process_time()
        assert run(*command[0].split(), MODELS, *command[1:]).code in (0, 1)
        return time.process_time() - begun

    measured = []
    for _ in range(3):  # a collection of the garbage of other tests may fall into one of the runs
        long = seconds(LONG)
        if long < 1:
            return  # most of it is the start of the command
        short = seconds(SHORT)
        if long < short * (LINEAR + QUADRATIC) / 2:
            return
        measured.append((short, long))
    pytest.fail(f"seconds of {SHORT} and of {LONG} items: {measured}")
