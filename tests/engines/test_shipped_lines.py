"""What is shipped here is clean: the samples and the runtimes."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.engines.command_line import command_line_of
from components.engines.lint import Finding, lint
from components.families import load
from components.families.llmaz.shipped import shipped, shipped_names
from components.fleet.options import Options
from components.fleet.words import Edition
from components.plan.rendering import render_fleet
from tests.engines.test_lint import ROOT
from tests.fleets import container, open_model, playground

# The project's own arguments.


def containers(edition: Edition) -> Iterator[dict[str, Any]]:
    """The containers of every sample, as they are rendered."""
    manifests = load([ROOT / "stacks" / "models"])
    fleet = render_fleet(manifests.resources, Options(runtimes=edition))
    templates = [spec["spec"] for item in fleet.rendered for spec in item.objects if "spec" in spec]
    for spec in templates:
        group = spec.get("leaderWorkerTemplate", {})
        parts = (spec.get("template"), group.get("leaderTemplate"), group.get("workerTemplate"))
        for pod in filter(None, parts):
            yield from pod["spec"]["containers"]


def findings_of(rendered: dict[str, Any]) -> list[Finding]:
    return list(lint(command_line_of(rendered)))


@pytest.mark.parametrize("edition", Edition)
def test_the_samples_are_clean(edition: Edition) -> None:
    seen = list(containers(edition))
    assert len(seen) > len(shipped_names())
    assert [(each["image"], finding) for each in seen for finding in findings_of(each)] == []


CONFIGS = [
    (name, config.name)
    for name in shipped_names()
    for runtime in filter(None, [shipped(name)])
    for config in runtime.spec.recommended_configs or ()
]


@pytest.mark.parametrize("edition", Edition)
@pytest.mark.parametrize(("backend", "config"), CONFIGS)
def test_the_shipped_runtimes_are_clean(backend: str, config: str, edition: Edition) -> None:
    gguf = {"modelHub": {"modelID": "a/b", "filename": "b.gguf"}}
    source: Any = "ollama://qwen2:0.5b" if backend == "ollama" else gguf
    roles = ("main",) if config == "default" else ("main", "draft")
    rendered = container(
        *(open_model(role, source=source) for role in roles),
        playground(
            modelClaims={"models": [{"name": role, "role": role} for role in roles]},
            backendRuntimeConfig={"backendName": backend, "configName": config},
        ),
        runtimes=edition,
    )
    assert rendered["args"]
    assert findings_of(rendered) == []
