"""What upstream's samples exercise (Kthena spec 8), as small manifests: each renders or is refused for what it is."""

from pathlib import Path

import pytest

from components.contract.problems import Problem, Severity
from components.families import load
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.rendering import render_fleet

SAMPLES = Path(__file__).with_name("data") / "samples"
BACKEND = "spec.backends[0]"


def errors_of(name: str, realization: Realization = Realization.NATIVE) -> list[tuple[str, str]]:
    """Return the resource, path and reason of everything that forbids a sample."""
    manifests = load([SAMPLES / f"{name}.yaml"])
    problems: list[Problem] = list(manifests.problems)
    problems += render_fleet(manifests.resources, Options(realization=realization)).problems
    return [(f"{p.name}: {p.path}", p.reason) for p in problems if p.severity == Severity.ERROR]


@pytest.mark.parametrize("name", ["quick-start", "pair", "roles", "gang"])
def test_samples_that_render(name: str) -> None:
    assert errors_of(name) == []


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("ascend", {f"coder: {BACKEND}.minReplicas": "must equal maxReplicas where nothing scales"}),  # V4
        (
            "adapters",
            {
                f"llama-8b: {BACKEND}.workers[0].pods": "must be at least 1, found 0",  # D-06
                f"llama-8b: {BACKEND}.modelURI": "needs ACCESS_KEY and SECRET_KEY",  # D-22
                f"llama-8b: {BACKEND}.loraAdapters[0].artifactURL": "needs ACCESS_KEY and SECRET_KEY",
            },
        ),
        ("recovery", {"lite: spec.recoveryPolicy": "needs Kthena's controller"}),  # spec 7
        ("capitals", {"PD-sample: metadata.name": "must be a DNS-1123 subdomain"}),  # V11
    ],
)
def test_samples_that_are_refused(name: str, refused: dict[str, str]) -> None:
    found = errors_of(name)
    assert {where for where, _ in found} == refused.keys()
    for where, reason in refused.items():
        assert any(reason in text for place, text in found if place == where)


def test_a_router_in_front_of_pods_of_others() -> None:
    """Upstream's pods are a Deployment's. Natively only pods of these files can be selected; the router takes any."""
    found = errors_of("router")
    assert {where.partition(":")[0] for where, _ in found} == {"small", "pair"}
    assert all(where.endswith("spec.workloadSelector.matchLabels") for where, _ in found)
    assert errors_of("router", Realization.OPERATOR) == []
