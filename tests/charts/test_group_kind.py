"""Our CustomResourceDefinition of LeaderWorkerSets beside the one that the pinned chart brings.

The real controller reads what the real definition guarantees, such as defaults: what it lacks here must be meant.
"""

import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.contract.schema.crds import crd
from components.families import kinds
from tests.charts.rendering import NotAtHandError, copy_of

OURS, THEIRS = "here only", "upstream only"
GROUP = "spec.leaderWorkerTemplate"
STRICTER = {
    "x-kubernetes-validations",
    "required",
    "spec.x-kubernetes-validations",
    f"{GROUP}.x-kubernetes-validations",
    f"{GROUP}.size.minimum",
    f"{GROUP}.subGroupPolicy.required",
    f"{GROUP}.subGroupPolicy.subGroupSize.minimum",
    "spec.rolloutStrategy.rollingUpdateConfiguration.partition.minimum",
    "spec.rolloutStrategy.rollingUpdateConfiguration.x-kubernetes-validations",
}
"""What the controller's webhooks check, the definition checks here: the simulated cluster has no webhooks."""
DELIBERATE = {(OURS, path) for path in STRICTER} | {
    # A field with a default is never missing.
    (THEIRS, "spec.rolloutStrategy.required"),
    # Equal finalizers are refused, as the API server does for those of an object of its own.
    *((OURS, f"{GROUP}.{where}metadata.finalizers.x-kubernetes-list-type") for where in (
        "leaderTemplate.",
        "workerTemplate.",
        "volumeClaimTemplates.items.",
        "leaderTemplate.spec.volumes.items.ephemeral.volumeClaimTemplate.",
        "workerTemplate.spec.volumes.items.ephemeral.volumeClaimTemplate.",
    )),
}  # fmt: skip
QUANTITY = re.compile(r".*\.(limits|requests|overhead|capacity|allocatedResources)\.additionalProperties\.pattern")
DIVISOR = re.compile(r".*\.(divisor|sizeLimit)\.pattern")
"""A quantity's exponent has at most nine digits here: more would take minutes to compute with."""


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield where two schemas differ; descriptions and orders say nothing."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}):
            here = path if key in ("properties", "openAPIV3Schema") else f"{path}.{key}".lstrip(".")
            if key == "description" and not isinstance(theirs.get(key), dict):
                continue
            if key not in theirs or key not in ours:
                yield (THEIRS if key in theirs else OURS), here
            else:
                yield from differences(theirs[key], ours[key], here)
    elif _plain(theirs) != _plain(ours):
        yield "differs", path


def _plain(value: Any) -> Any:
    return sorted(map(json.dumps, value)) if isinstance(value, list) else value


@pytest.fixture(scope="module")
def upstream() -> dict[str, Any]:
    """The definition in the chart's copy."""
    name = "crds/leaderworkerset.x-k8s.io_leaderworkersets.yaml"
    try:
        copy = copy_of("leader-worker-set")
    except NotAtHandError as error:
        pytest.skip(str(error))
    found: dict[str, Any] = yaml.safe_load(_text(copy, name))
    return found


def _text(copy: Path, name: str) -> str:
    if copy.is_dir():
        return (copy / name).read_text()
    with tarfile.open(copy) as archive:
        member = next(member for member in archive.getmembers() if member.name.endswith(name))
        file = archive.extractfile(member)
        assert file is not None
        return file.read().decode()


def test_what_differs_from_upstream_is_meant(upstream: dict[str, Any]) -> None:
    (theirs,), (ours,) = (body["spec"]["versions"] for body in (upstream, crd(kinds().by_name("LeaderWorkerSet"))))
    found = set(differences(theirs["schema"], ours["schema"]))
    patterns = {
        where for where in found if where[0] == "differs" and (QUANTITY.match(where[1]) or DIVISOR.match(where[1]))
    }
    assert found - patterns == DELIBERATE
    assert patterns
    for part in ("names", "scope", "group"):
        assert upstream["spec"][part] == crd(kinds().by_name("LeaderWorkerSet"))["spec"][part]


@pytest.mark.parametrize(
    ("theirs", "ours", "found"),
    [
        ({"a": {"default": 0}}, {"a": {}}, [(THEIRS, "a.default")]),
        ({"a": {}}, {"a": {"minimum": 1}}, [(OURS, "a.minimum")]),
        ({"required": ["a", "b"]}, {"required": ["b", "a"]}, []),
        ({"required": ["a"]}, {"required": ["b"]}, [("differs", "required")]),
        ({"description": "a"}, {}, []),
        ({"properties": {"description": {"type": "string"}}}, {"properties": {}}, [(THEIRS, "description")]),
    ],
)
def test_a_difference_is_found(theirs: Any, ours: Any, found: list[tuple[str, str]]) -> None:
    assert list(differences(theirs, ours)) == found
