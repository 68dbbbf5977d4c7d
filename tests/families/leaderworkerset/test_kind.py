"""LeaderWorkerSets as upstream's definition takes them (kubernetes-sigs/lws v0.10.0)."""

import json
from typing import Any

import pytest

from components.contract.schema.crds import crd
from components.families import kinds, parse
from tests.families.leaderworkerset.sets import TEMPLATE, group

EMBEDDED = ("leaderTemplate", "workerTemplate")


def reasons(document: dict[str, Any]) -> list[str]:
    """What is wrong with a document by itself."""
    return [f"{problem.path}: {problem.reason}" for problem in parse(json.dumps(document)).problems]


def schema_at(*path: str) -> dict[str, Any]:
    found = crd(kinds().by_name("LeaderWorkerSet"))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for part in path:
        found = found["items"] if part == "[]" else found["properties"][part]
    return dict(found)


@pytest.mark.parametrize(
    ("path", "default"),
    [
        ("spec.replicas", 1),
        ("spec.startupPolicy", "LeaderCreated"),
        ("spec.leaderWorkerTemplate.size", 1),
        ("spec.leaderWorkerTemplate.restartPolicy", "RecreateGroupOnPodRestart"),
        ("spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType", "LeaderWorker"),
        ("spec.rolloutStrategy.type", "RollingUpdate"),
        ("spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable", 1),
        ("spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge", 0),
        ("spec.rolloutStrategy.rollingUpdateConfiguration.partition", 0),
    ],
)
def test_the_controller_finds_what_the_definition_promises(path: str, default: Any) -> None:
    """Each of these is read without a look at whether it is there."""
    assert schema_at(*path.split("."))["default"] == default


@pytest.mark.parametrize("part", EMBEDDED)
def test_metadata_of_a_template_is_what_is_kept_of_it(part: str) -> None:
    known = schema_at("spec", "leaderWorkerTemplate", part, "metadata")["properties"]
    assert set(known) == {"annotations", "finalizers", "labels", "name", "namespace"}


@pytest.mark.parametrize("part", EMBEDDED)
@pytest.mark.parametrize(("field", "value"), [("generateName", "a-"), ("uid", "u"), ("ownerReferences", [])])
def test_other_metadata_is_an_unknown_field(part: str, field: str, value: Any) -> None:
    good: dict[str, Any] = {part: {**TEMPLATE, "metadata": {"labels": {"a": "b"}}}}
    assert reasons(group("g", None, **good)) == []
    good[part]["metadata"][field] = value
    (reason,) = reasons(group("g", None, **good))
    assert reason.startswith(f"spec.leaderWorkerTemplate.{part}.metadata.{field}: unknown field")


def test_conditions_are_those_of_every_kind() -> None:
    """The markers of metav1.Condition, which other controllers' readers rely on."""
    fields = schema_at("status", "conditions", "[]")["properties"]
    assert fields["status"]["enum"] == ["True", "False", "Unknown"]
    assert fields["observedGeneration"]["minimum"] == 0
    assert (fields["type"]["maxLength"], fields["reason"]["maxLength"], fields["message"]["maxLength"]) == (
        316,
        1024,
        32768,
    )
