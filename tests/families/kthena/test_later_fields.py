"""Every field that releases after the contract's added: it is rendered, refused or warned about."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from components.contract.problems import errors
from components.families import kinds, load
from components.families.kthena.kinds import RELEASES
from components.plan.explain import explain
from components.plan.plan import Plan, plan
from tests.families.kthena.page import NAMES, fields_of
from tests.families.kthena.test_fields import REQUIRED
from tests.layers.modules import ROOT

DOCUMENTS = ROOT / "components/families/kthena/samples/later_fields.yaml"
REFUSED = re.compile(r"disaggregatedTarget|\.prometheus|\.subTargets")
"""Fields that are errors natively: tests/families/kthena/test_later_forms.py."""
OF_KUBERNETES = re.compile(r"\.(affinity|tolerations|env|envFrom|resources|targetRef|labelSelector)\.")
"""Below these, the fields are those of Kubernetes."""


@cache
def planned() -> Plan:
    manifests = load([DOCUMENTS])
    assert not manifests.problems
    found = plan(manifests)
    assert not errors(found.problems), list(map(str, errors(found.problems)))
    return found


def written(value: Any, path: str = "") -> Iterator[str]:
    """Yield the fields that a value sets, without indices and keys of sources."""
    if isinstance(value, dict):
        for name, inner in value.items():
            place = f"{path}.{name}".strip(".")
            yield place
            yield from written(list(inner.values()) if name == "metricSources" else inner, place)
    elif isinstance(value, list):
        for inner in value:
            yield from written(inner, path)


def test_each_is_set() -> None:
    documents = list(yaml.safe_load_all(DOCUMENTS.read_text()))
    for name in NAMES:
        kind = kinds().by_name(name)
        later = {field for release in RELEASES.names for field in fields_of(kind, release)}
        later -= {"backends.schedulerName", *fields_of(kind, RELEASES.contract)}
        # So that nothing which would be an error is expected.
        wanted = {field for field in later if not REFUSED.search(field) and not OF_KUBERNETES.search(field)}
        own = {field for document in documents if document["kind"] == name for field in written(document["spec"])}
        assert wanted - own == set(), name


def test_none_is_silent() -> None:
    resources, found = load([DOCUMENTS]).resources, planned()
    silent = []
    for subject in resources:
        contract = set(fields_of(subject.kind, RELEASES.contract))
        own = subject.kind.kind, subject.name
        told = [each.path for each in found.problems if each.path and (each.kind, each.name) == own]
        for row in explain(subject, resources, found):
            is_told = any(row.path == path or row.path.startswith((f"{path}.", f"{path}[")) for path in told)
            is_later = re.sub(r"\[[^]]*\]", "", row.path).removeprefix("spec.") not in contract
            lines = [line for line in row.became if not is_later or not line.startswith(REQUIRED)]
            if not lines and not is_told:
                silent.append((subject.title, row.path, row.became))
    assert silent == []
