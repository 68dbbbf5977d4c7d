"""Manifests without a declared release: errors for an operator, a note natively, nothing in the contract's form."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.kinds import Kinds
from components.contract.load import load_objects
from components.contract.releases import Span
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.releases import check_release
from tests.contract.test_releases import NEW, OLD, TOY, toy

OPERATOR = Options(realization=Realization.OPERATOR)


def problems(spec: dict[str, Any], options: Options, release: str = "") -> list[str]:
    (source,) = load_objects([toy(spec)], Kinds([TOY.at(release)])).resources
    return [f"{p.severity} {p.path}: {p.reason} [{p.rule}]" for p in check_release(source, options)]


@pytest.mark.parametrize("options", [Options(), OPERATOR])
def test_nothing_is_reported_in_the_contracts_form_or_with_a_release(options: Options) -> None:
    assert problems(OLD, options) == []
    assert problems(NEW, options, "v2") == []


def test_natively_a_note_proposes_the_newest_release() -> None:
    assert problems(NEW, Options()) == [
        "note spec.backend: unknown field of Toys v1: the manifest is written for v2 to v3; set "
        "releases: {toys: v3}, a component's argument release: v3, or --release toys=v3, to check it against that "
        "release [release-unset]"
    ]


def test_an_operator_needs_the_release() -> None:
    assert problems(NEW, OPERATOR) == [
        "error spec.backend: unknown field of Toys v1, which realization 'operator' installs; set "
        "releases: {toys: v3}, a component's argument release: v3, or --release toys=v3 (or another of "
        "v2 to v3) [release-mismatch]"
    ]


def test_two_forms_that_no_release_has_together() -> None:
    mixed = {"backend": {"name": "x", "old": 1}}
    assert problems(mixed, Options()) == []
    assert problems(mixed, OPERATOR) == [
        "error spec.backend: no release of Toys accepts this manifest: spec.backend needs v2 to v3, and "
        "spec.backend.old needs v1; use the form of one release, or realization 'native' [release-mismatch]"
    ]


def test_two_forms_of_a_kind_that_later_releases_lack() -> None:
    """The release without the kind is none of those that have a form."""
    gone = replace(TOY, span=Span(until="v2"))
    mixed = {"backend": {"name": "x", "old": 1}}
    (source,) = load_objects([toy(mixed)], Kinds([gone])).resources
    (problem,) = check_release(source, OPERATOR)
    assert "spec.backend needs v2, and spec.backend.old needs v1;" in problem.reason
