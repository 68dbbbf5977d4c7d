"""Loads of variants that are not there: a slip of the pen must not be silent."""

from dataclasses import replace

import pytest
import yaml

from components.families import parse
from components.fleet.levels import ServiceLevels
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.rendering import render_fleet
from tests.families.llmd import support
from tests.families.llmd.support import fleet, levels, per_minute, told, variant
from tests.fleets import warnings

OPERATED = {"llmd": Realization.OPERATOR}


def loaded(*names: str) -> ServiceLevels:
    """A load for each name."""
    return replace(levels(), loads=dict.fromkeys(names, per_minute(40)), file="Pulumi.local.yaml")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "chta",
            "no VariantAutoscaling named 'chta'; did you mean 'chat'? (available: chat); its load has no effect; "
            "correct the name, or remove it",
        ),
        (
            "other/chat",
            "no VariantAutoscaling named 'other/chat' (available: ns/chat); its load has no effect; correct the "
            "name, or remove it",
        ),
    ],
)
def test_probably_of_one_that_has_none(name: str, reason: str) -> None:
    """With the controller a variant needs no load; natively it is told of the near one itself."""
    (problem,) = warnings(fleet(*support.of_llmkube(), variant(), levels=loaded(name), realizations=OPERATED))
    assert (problem.file, problem.path) == ("Pulumi.local.yaml", f"serviceLevels.loads[{name}]")
    assert problem.reason == reason


@pytest.mark.parametrize("names", [("ns/chat",), ("chat", "chta"), ("chat", "other/chat"), ("chat", "a/b/c", "code")])
def test_of_variants_that_are_there_or_elsewhere(names: tuple[str, ...]) -> None:
    """Who checks a part of a stack has loads of all of it."""
    assert warnings(fleet(*support.of_llmkube(), variant(), levels=loaded(*names))) == []


def test_of_others_where_one_is_missing() -> None:
    found = fleet(*support.of_llmkube(), variant(), levels=loaded("granite-13b"), realizations=OPERATED)
    assert warnings(found) == []


def test_without_any_variant_nobody_asks() -> None:
    assert warnings(fleet(*support.of_llmkube(), levels=loaded("chta"))) == []


def test_of_a_variant_that_could_not_be_read() -> None:
    """That is told where it is written."""
    broken = variant("code")
    del broken["spec"]["modelID"]
    manifests = parse(yaml.safe_dump_all([*support.of_llmkube(), variant(), broken]), "fleet.yaml")
    found = render_fleet(manifests.resources, Options(levels=loaded("code")), unread=manifests.problems)
    assert warnings(found) == []


def test_of_a_variant_that_cannot_be_rendered() -> None:
    found = fleet(*support.of_llmkube(), variant(), variant("code"), levels=loaded("code"))
    assert warnings(found) == []


def test_a_variant_without_a_load_is_told_of_a_near_one() -> None:
    ((_, path, reason),) = told(*support.of_llmkube(), variant(), levels=levels(name="chta"))
    assert path == "metadata.name"
    assert reason.startswith("the load of 'chat' is unknown (did you mean 'chta'? in serviceLevels.loads)")


def test_prices_of_an_accelerator_that_is_spelled_otherwise() -> None:
    found = fleet(*support.of_llmkube(), variant(), levels=levels(l4="70", L40="80"))
    (problem,) = warnings(found)
    assert problem.path == "serviceLevels.accelerators[l4]"
    assert problem.reason == "has no effect: VariantAutoscalings call that accelerator 'L4'; use that spelling"


def test_prices_of_accelerators_that_no_variant_has() -> None:
    """They are there to be compared with."""
    assert warnings(fleet(*support.of_llmkube(), variant(), levels=levels(MI300X="65", L4="80"))) == []
