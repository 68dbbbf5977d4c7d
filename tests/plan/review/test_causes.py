"""Why replicas restart, in a few words."""

import pytest

from workbench.planning.wording.resources import is_field, short_causes

MAIN = "spec.template.spec.containers[main]"
AFFINITY = "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
GROUP = "spec.leaderWorkerTemplate"


@pytest.mark.parametrize(
    ("because", "shown"),
    [
        ((), ()),
        ((f"{MAIN}.image",), ("containers[main].image",)),
        ((f"{MAIN}.args[1]", f"{MAIN}.args[4]"), ("containers[main].args (2 fields)",)),
        ((f"{AFFINITY}.nodeSelectorTerms[0].matchExpressions[0].values[0]",), ("affinity",)),
        (('spec.template.metadata.labels["llmaz.io/model-name"]',), ("metadata.labels",)),
        (
            (f"{GROUP}.leaderTemplate.spec.containers[main].image", f"{GROUP}.workerTemplate.spec.nodeSelector.a"),
            ("leader containers[main].image", "worker nodeSelector"),
        ),
        ((f"{GROUP}.size",), ("size",)),
        (("replicas 1 -> 3",), ("replicas 1 -> 3",)),
        (("spec.selector.matchLabels.app",), ("spec.selector",)),
        (
            (
                f"{MAIN}.args[1]",
                f"{MAIN}.image",
                f"{MAIN}.env[A].value",
                f"{AFFINITY}.x",
                f"{AFFINITY}.y",
                "spec.paused",
            ),
            ("containers[main].args", "containers[main].image", "containers[main].env", "and 3 more fields"),
        ),
    ],
)
def test_causes(because: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert short_causes(because) == shown


def test_no_cause_is_longer_than_a_line() -> None:
    names = [f"spec.template.spec.{'x' * 200}.{number}" for number in range(50)]
    assert sum(map(len, short_causes(names))) < 120


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        ("affinity", True),
        ("worker containers[main].args (3 fields)", True),
        ("replicas 1 -> 3", False),
        ("and 3 more fields", False),
        ("replaces Deployment ml/chat", False),
    ],
)
def test_fields_and_sentences(cause: str, expected: bool) -> None:
    assert is_field(cause) is expected
