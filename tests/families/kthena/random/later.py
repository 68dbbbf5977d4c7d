"""Random documents of Kthena's kinds in the form of a release.

Most are random documents of the contract's release, converted; the others are written for tests of later releases.
Fields of the release's schema are added.
"""

import copy
import functools
from collections.abc import Iterator
from random import Random
from typing import Any

import yaml

from components.contract.checking import check
from components.contract.schema.narrowing import release_graph
from components.families import kinds
from components.families.kthena.kinds import RELEASES
from components.families.kthena.migration import STEPS
from components.families.migration import Batch, MigratedDocument, drop_losses, migrate
from tests.contract.breaking import grown
from tests.contract.changing import changed
from tests.families.kthena.api.samples import kind_of
from tests.families.kthena.api.test_rules_of_releases import CASES
from tests.families.kthena.random import documents
from tests.layers.modules import ROOT

Object = dict[str, Any]
LATER = ROOT / "components/families/kthena/samples/later_fields.yaml"
_TRIES = 20


def document(kind: str, release: str, random: Random) -> Object:
    """Return a valid document of a kind in a release."""
    written = _written(kind, release)
    base = copy.deepcopy(random.choice(written)) if written and random.random() < 0.5 else None
    base = base or _converted(kind, release, random) or copy.deepcopy(random.choice(written))
    shape = release_graph(kind_of(base, ""), release)
    larger = (grown(base, random, random.randint(1, 4), shape) for _ in range(_TRIES))
    return next((each for each in larger if not check(each, kind_of(each, release))[1]), base)


@functools.cache
def _written(kind: str, release: str) -> list[Object]:
    """Return the documents written for tests that are valid in a release."""
    return [each for each in _by_hand() if each["kind"] == kind and not check(each, kind_of(each, release))[1]]


def _by_hand() -> Iterator[Object]:
    for each in yaml.safe_load_all(LATER.read_text(encoding="utf-8")):
        if kinds().find(each["apiVersion"], each["kind"]):
            yield {**each, "metadata": {"namespace": "default", **each["metadata"]}}
    for original, changes, *_ in CASES.values():
        yield changed(original, changes)


def _converted(kind: str, release: str, random: Random) -> Object | None:
    """Return a random document of the contract's release in the form of another one; None if it has none."""
    if not kind_of({"kind": kind}, release).exists:
        return None
    for _ in range(_TRIES):
        batch = Batch([MigratedDocument(documents.document(kind, random))])
        migrate(batch, kinds(), RELEASES, STEPS, RELEASES.contract, release)
        for each in batch.of_kind(kind):
            if not drop_losses(each, kinds(), release):
                found = dict(each.value)
                if not check(found, kind_of(found, release))[1]:
                    return found
    return None
