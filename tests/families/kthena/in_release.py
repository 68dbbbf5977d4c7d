"""Manifests of one release, and what they become."""

import copy
import json
from typing import Any

import yaml

from components.contract.problems import Problem
from components.contract.releases import Span
from components.families import parse
from components.families.kthena.kinds import RELEASES
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization
from components.plan.rendering import render_fleet

Object = dict[str, Any]


def fleet_in(release: str, *documents: Object, **options: Any) -> Fleet:
    """Read valid documents in a release, empty for that of none, and render them."""
    releases = {"kthena": release} if release else {}
    text = yaml.safe_dump_all(copy.deepcopy(list(documents)), sort_keys=False)
    manifests = parse(text, "fleet.yaml", releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    return render_fleet(manifests.resources, Options(releases=releases, **options))


def bodies(release: str, *documents: Object, **options: Any) -> list[str]:
    """Every object of documents without an error, in no order."""
    fleet = fleet_in(release, *documents, **options)
    assert [str(problem) for problem in fleet.problems if problem.is_error] == []
    return sorted(json.dumps(body, sort_keys=True) for item in fleet.rendered for body in item.objects)


def operated(release: str, *documents: Object, **options: Any) -> list[Problem]:
    """What is wrong with documents under the controllers of a release."""
    options = {"realization": Realization.OPERATOR, "tolerates_devices": True, **options}
    return list(fleet_in(release, *documents, **options).problems)


def as_one(document: Object) -> Object:
    """A booster of one backend in the form since v0.2.0."""
    changed = copy.deepcopy(document)
    (changed["spec"]["backend"],) = changed["spec"].pop("backends")
    return changed


def as_replicas(document: Object) -> Object:
    """A booster of one backend in the form of v1.0.0."""
    changed = as_one(document)
    chosen = changed["spec"]["backend"]
    chosen["replicas"] = chosen.pop("minReplicas")
    del chosen["maxReplicas"]
    return changed


def in_form(document: Object, release: str) -> Object:
    """A booster of one backend in the form of a release."""
    if RELEASES.covers(Span(until="v0.1.0"), release):
        return document
    return as_replicas(document) if release == RELEASES.names[-1] else as_one(document)
