"""Serving groups are spread as their constraints say; Kthena's controller applies none (D-21)."""

import pytest

from tests.families.kthena.serving.support import (
    LABEL,
    Object,
    engine,
    group_of,
    made,
    model_serving,
    pods,
    role,
    told,
    warned,
)

ZONE = "topology.kubernetes.io/zone"
HARD: Object = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
PATH = "spec.topologySpreadConstraints"


def spread(*constraints: Object, **spec: object) -> Object:
    return model_serving("ms", role("r", 1, **spec), topologySpreadConstraints=[*constraints])


def test_entry_pods_stand_for_their_groups() -> None:
    group = group_of(made(spread(HARD))["LeaderWorkerSet", "ms"])
    counted = {"matchLabels": {f"{LABEL}/name": "ms", f"{LABEL}/role": "r", f"{LABEL}/entry": "true"}}
    assert group["leaderTemplate"]["spec"]["topologySpreadConstraints"] == [{**HARD, "labelSelector": counted}]
    assert "topologySpreadConstraints" not in group["workerTemplate"]["spec"]


def test_a_selector_counts_entry_pods_too() -> None:
    constraint = {**HARD, "labelSelector": {"matchLabels": {"app": "a"}}}
    group = group_of(made(spread(constraint))["LeaderWorkerSet", "ms"])
    (found,) = group["leaderTemplate"]["spec"]["topologySpreadConstraints"]
    assert found["labelSelector"] == {"matchLabels": {"app": "a", f"{LABEL}/entry": "true"}}


def test_those_of_the_template_stay() -> None:
    own = {**HARD, "topologyKey": "kubernetes.io/hostname", "labelSelector": {}}
    group = group_of(
        made(spread(HARD, entryTemplate=pods(engine(), topologySpreadConstraints=[own])))["LeaderWorkerSet", "ms"]
    )
    keys = [each["topologyKey"] for each in group["leaderTemplate"]["spec"]["topologySpreadConstraints"]]
    assert keys == ["kubernetes.io/hostname", ZONE]


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"maxSkew": None}, "maxSkew"),
        ({"maxSkew": 0}, "maxSkew"),
        ({"topologyKey": None}, "topologyKey"),
        ({"whenUnsatisfiable": None}, "whenUnsatisfiable"),
        ({"whenUnsatisfiable": "Never"}, "whenUnsatisfiable"),
    ],
)
def test_what_no_pod_may_have_is_refused(wrong: Object, path: str) -> None:
    """The definition of the kind asks for none of the fields; the API server does of pods."""
    constraint = {key: value for key, value in {**HARD, **wrong}.items() if value is not None}
    assert list(told(spread(constraint))) == [f"{PATH}[0].{path}"]


@pytest.mark.parametrize("when", ["DoNotSchedule", "ScheduleAnyway"])
def test_both_ways_of_pods_are_taken(when: str) -> None:
    group = group_of(made(spread({**HARD, "whenUnsatisfiable": when}))["LeaderWorkerSet", "ms"])
    (found,) = group["leaderTemplate"]["spec"]["topologySpreadConstraints"]
    assert found["whenUnsatisfiable"] == when


def test_one_is_enough() -> None:
    assert list(told(spread(HARD, {**HARD, "maxSkew": 2}))) == [f"{PATH}[1]"]


def test_groups_in_several_places_are_told() -> None:
    document = model_serving("ms", role("a"), role("b"), topologySpreadConstraints=[HARD])
    assert "pod templates" in warned(document)[PATH]
    templates = [group_of(b)["workerTemplate"] for (k, _), b in made(document).items() if k == "LeaderWorkerSet"]
    assert all("topologySpreadConstraints" not in template["spec"] for template in templates)
