"""Random documents of Kthena's kinds: valid ones pass and lose nothing, wrong ones are refused at the field."""

from collections.abc import Iterator
from random import Random

import pytest

from components.contract.checking import check
from tests.families.kthena.api.samples import kind_of
from tests.families.kthena.api.table import FIELDS, KINDS, Row, label
from tests.families.kthena.random.breaking import RULES, at
from tests.families.kthena.random.core import Object
from tests.families.kthena.random.documents import document
from tests.families.kthena.random.faults import bad_values, places, wrong

SEEDS = range(1000)


@pytest.mark.parametrize("kind", KINDS)
def test_valid_documents_pass(kind: str) -> None:
    for seed in SEEDS:
        whole = document(kind, Random(seed))
        resource, found = check(whole, kind_of(whole))
        assert found == [], seed
        assert resource is not None
        assert resource.wire() == whole, seed


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_documents_are_refused_at_the_field(kind: str) -> None:
    for seed in SEEDS:
        example = wrong(kind, Random(seed))
        resource, found = check(example.document, kind_of(example.document))
        assert resource is None, seed
        assert example.path in [path for path, _ in found], seed


@pytest.mark.parametrize("kind", KINDS)
def test_they_reach_every_field(kind: str) -> None:
    """Each field of the kind is written in some of the documents, and each has a value to be wrong with."""
    written = {label(row) for seed in SEEDS for row in _written(document(kind, Random(seed)))}
    reached = {
        label(row) for seed in SEEDS for _, row in places(document(kind, Random(seed))["spec"], f"{kind}Spec", ())
    }
    assert written == reached
    assert all(bad_values(row) for rows in FIELDS.values() for row in rows)


def _written(whole: Object) -> Iterator[Row]:
    for path, row in places(whole["spec"], f"{whole['kind']}Spec", ()):
        if path[-1] in at(whole["spec"], path[:-1]):
            yield row


@pytest.mark.parametrize(("kind", "number"), [(kind, n) for kind, rules in RULES.items() for n in range(len(rules))])
def test_each_rule_is_broken_in_any_document(kind: str, number: int) -> None:
    """Not at random: no rule is left to luck."""
    mode, breaks = RULES[kind][number]
    for seed in range(100):
        whole = document(kind, Random(seed), mode)
        path = breaks(whole["spec"], Random(seed))
        assert path in [place for place, _ in check(whole, kind_of(whole))[1]], seed
