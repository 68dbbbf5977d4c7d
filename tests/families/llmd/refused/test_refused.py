"""What cannot work is refused by the plan, with the controller or without, with numbers that prove it (spec 15)."""

import pytest

from components.contract.problems import errors
from components.fleet.levels import LatencyTargets, ServiceClass, ServiceLevels
from components.fleet.words import Realization
from tests.families.llmd import support
from tests.families.llmd.refused.support import (
    ENTRY,
    FREEMIUM,
    LABELLED,
    PREMIUM,
    WAITING,
    playground,
    problems,
    promising,
    refusals,
)
from tests.families.llmd.support import LABEL, MODEL, Object, levels, profile, variant

Case = tuple[Object, ServiceLevels, str, tuple[str, ...]]
CASES: dict[str, Case] = {
    # WVA spec 8.10: 50 / 0.15 with 24 ms is infeasible.
    "a promise that no number of replicas keeps": (
        variant("chat", profile(alpha="50", beta="0.15")),
        levels(),
        f"{ENTRY}.alpha",
        (
            "alpha + beta = 50 + 0.15 = 50.15 ms",
            "the target of class 'Premium' for",
            "is 24 ms (itlMs)",
            "set at least 51 ms",
            "'L4'",
        ),
    ),
    "a promise that is just too short": (
        variant("chat", profile(alpha="23.6", beta="0.4")),
        levels(),
        f"{ENTRY}.alpha",
        ("23.6 + 0.4 = 24.0 ms", "is 24 ms (itlMs)", "set at least 25 ms"),
    ),
    # 8.5: with 1 at once it is an M/M/1 queue; at a thousandth of its rate a request waits 0.001 / 0.999 of 3738.7 ms
    # on average, and 5 % of them three times that.
    "a wait that no number of replicas keeps": (
        variant("chat", profile(alpha="20.58", beta="0.42", batch=1)),
        promising(ServiceClass("Premium", 1, {MODEL: LatencyTargets(0, 5)})),
        ENTRY,
        ("class 'Premium'", "5 % of requests wait longer than 11", "above the target of 5 ms", "faster accelerator"),
    ),
    # 8.10, last row.
    "beta of 0": (
        variant("chat", profile(beta="0")),
        levels(),
        f"{ENTRY}.beta",
        ("must be above 0, found 0", "a token takes 20.58 ms however many", "24 ms", "'Premium'", "itlMs: 0"),
    ),
    "beta of nothing but zeros": (
        variant("chat", profile(beta="0.000")),
        levels(),
        f"{ENTRY}.beta",
        ("found 0.000",),
    ),
    "beta that single precision cannot tell from 0": (
        variant("chat", profile(beta="0.000000001")),
        levels(),
        f"{ENTRY}.beta",
        ("must be above 0, found 0.000000001",),
    ),
    "a batch of 1": (
        variant("chat", profile(batch=1)),
        levels(),
        f"{ENTRY}.maxBatchSize",
        ("must be at least 2, found 1", "alpha + beta = 20.58 + 0.41 = 20.99 ms", "24 ms", "itlMs: 0"),
    ),
    "no service class": (
        variant(),
        promising(),
        "spec.modelID",
        (
            "'tiny' is in no service class",
            '{classes: [{name: "Premium", models: {"tiny": {itlMs: 24, ttftMs: 500}}}]}',
        ),
    ),
    "a model that is misspelt in its class": (
        variant(),
        promising(ServiceClass("Gold", 2, {"tinny": LatencyTargets(24, 500)})),
        "spec.modelID",
        ("did you mean 'tinny'? (there are 'tinny')", 'name: "Gold"'),
    ),
    "two service classes": (
        variant(),
        promising(PREMIUM, FREEMIUM),
        "spec.modelID",
        ("in 2 service classes", "'Premium' (itlMs 24, ttftMs 500)", "'Freemium' (itlMs 200, ttftMs 2000)"),
    ),
    "no label": (
        variant(accelerator=None),
        levels(),
        "metadata.labels",
        (f"must have {LABEL}", "set it to 'L4'"),
    ),
    "a label that is not in the profile": (
        variant("chat", profile("H100"), profile("A100"), accelerator="H200"),
        levels(),
        LABELLED,
        ("has no 'H200'; did you mean 'H100'? (it has 'H100', 'A100')", "correct the label, or add an entry"),
    ),
    "an accelerator that no status can hold": (
        variant("chat", profile("L"), accelerator="L"),
        levels(L="40"),
        LABELLED,
        ("must have at least 2 characters, found 'L'",),
    ),
    "an accelerator twice": (
        variant("chat", profile(), profile(beta="0.5")),
        levels(),
        "spec.modelProfile.accelerators[1].acc",
        ("'L4' is in spec.modelProfile.accelerators[0] already", "remove one of the two"),
    ),
    "another number of accelerators": (
        variant("chat", profile(count=4)),
        levels(),
        f"{ENTRY}.accCount",
        ("is 4, and a replica of Deployment 'chat' requests 1", "write 1 "),
    ),
    "a name for several accelerators": (
        variant("chat", profile("4xL4"), accelerator="4xL4"),
        levels(),
        f"{ENTRY}.accCount",
        ("is 1 times 4 (4xL4), and a replica of Deployment 'chat' requests 1", "request a multiple of 4"),
    ),
    "a model that the workload does not serve": (
        variant(modelID="other"),
        promising(ServiceClass("Premium", 1, {"other": LatencyTargets(24, 500)})),
        "spec.modelID",
        ("'other' is not what Deployment 'chat' serves ('tiny')", "write 'tiny'"),
    ),
    "more at once than a plan computes with": (
        variant("chat", profile(batch=2**63 - 1)),
        levels(),
        f"{ENTRY}.maxBatchSize",
        ("must be at most 65536", "found 9223372036854775807"),
    ),
    "a token that takes no time": (
        variant("chat", profile(alpha="0", beta="0." + "0" * 400 + "1")),
        promising(WAITING),
        f"{ENTRY}.alpha",
        ("alpha + beta = 0 + 0.0000", "at least 0.000001"),
    ),
    "a token that takes for ever": (
        variant("chat", profile(alpha="9" * 400)),
        levels(),
        f"{ENTRY}.alpha",
        ("alpha + beta = 999999", "at most 1000000 ms"),
    ),
}


@pytest.mark.parametrize("how", Realization)
@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_with_its_numbers(case: str, how: Realization) -> None:
    document, asked, path, words = CASES[case]
    found = refusals(*playground(), document, asked=asked, how=how)
    assert [each[:2] for each in found] == [("VariantAutoscaling/chat", path)], found
    assert [word for word in words if word not in found[0][2]] == [], found[0][2]
    assert len(found[0][2]) < 600


@pytest.mark.parametrize("how", Realization)
def test_an_accelerator_without_a_price(how: Realization) -> None:
    """Neither settings nor the nodes nor the name tell it."""
    anywhere = support.of_llmkube(nodeSelector={})
    document = variant("chat", profile("X9"), accelerator="X9")
    ((who, path, reason),) = refusals(*anywhere, document, how=how)
    assert (who, path) == ("VariantAutoscaling/chat", LABELLED)
    assert reason.startswith("the price of an accelerator 'X9' is unknown: ")
    assert "set serviceLevels.accelerators[X9].centsPerHour" in reason
    assert refusals(*anywhere, document, asked=levels(X9="40"), how=how) == []
    assert refusals(*anywhere, variant(), how=how) == [], "the cheapest nodes with an L4"
    assert refusals(*support.of_llmkube(), document, how=how) == [], "the nodes that it runs on"


@pytest.mark.parametrize("how", Realization)
def test_what_is_right_is_not(how: Realization) -> None:
    for make in (playground, support.of_llmkube):
        assert refusals(*make(), variant(), how=how) == []


GOOD: dict[str, tuple[Object, ServiceLevels]] = {
    "a promise that is just long enough": (variant("chat", profile(alpha="23.5", beta="0.4")), levels()),
    "beta of 0 without promised inter-token latency": (variant("chat", profile(beta="0")), promising(WAITING)),
    "a batch of 1 without promised inter-token latency": (variant("chat", profile(batch=1)), promising(WAITING)),
    "a price in the settings": (
        variant("chat", profile("X9"), accelerator="X9"),
        levels(X9="40"),
    ),
    "another model in another class": (
        variant(),
        promising(PREMIUM, ServiceClass("Freemium", 10, {"other": LatencyTargets(1)})),
    ),
    "two characters": (variant("chat", profile("G2"), accelerator="G2"), levels(G2="23")),
    "an entry for comparison": (variant("chat", profile(), profile("H100", count=8, batch=1)), levels()),
}


@pytest.mark.parametrize("how", Realization)
@pytest.mark.parametrize("case", GOOD)
def test_it_is_not_refused(case: str, how: Realization) -> None:
    document, asked = GOOD[case]
    assert refusals(*playground(), document, asked=asked, how=how) == []


@pytest.mark.parametrize("how", Realization)
def test_everything_is_told_at_once(how: Realization) -> None:
    """Whatever is wrong, in the resource, in the settings and with the workload."""
    entries = (profile("4xL4", beta="0", batch=1), profile("4xL4"))
    document = variant("chat", *entries, accelerator="4xL4", modelID="other")
    asked = promising(ServiceClass("Premium", 1, {"other": LatencyTargets(20, 500)}))
    found = refusals(*playground(), document, asked=asked, how=how)
    assert {path for _, path, _ in found} == {
        f"{ENTRY}.alpha",
        f"{ENTRY}.beta",
        f"{ENTRY}.maxBatchSize",
        "spec.modelProfile.accelerators[1].acc",
        f"{ENTRY}.accCount",
        "spec.modelID",
    }


@pytest.mark.parametrize("how", Realization)
def test_what_needs_no_workload_is_told_without_one(how: Realization) -> None:
    found = refusals(variant("chat", profile(beta="0"), modelID="other"), how=how)
    assert {path for _, path, _ in found} == {"metadata.name", "spec.modelID"}
    found = refusals(variant("chat", profile(beta="0")), how=how)
    assert {path for _, path, _ in found} == {"metadata.name", f"{ENTRY}.beta"}


@pytest.mark.parametrize("how", Realization)
def test_hostile_names_break_no_message(how: Realization) -> None:
    model = "a\n2026 error: b ${X} 'c' \"d\""
    found = problems(*playground(), variant(modelID=model), how=how)
    (problem,) = [each for each in errors(found) if "no service class" in each.reason]
    assert str(problem).isprintable()
    assert 'models: {"a\\n2026' in problem.reason or "\\n" in problem.reason
