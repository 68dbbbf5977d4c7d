"""Manifests from one release of LLMKube to another: what is kept, what is renamed and what is lost.

Random documents are made from ``data/releases.csv``, not from our types.
"""

import copy
import functools
import json
import os
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.families import kinds, objects
from components.families.llmkube.family import FAMILY, RELEASES
from components.families.migration import Batch, MigratedDocument, migrate
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from tests.families.llmkube.api.test_releases import FORMS, KINDS, expected
from tests.families.llmkube.support import HTTP, Object, isvc, made, model

EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_MIGRATIONS", "20"))
DRAFTS = ("draft", "draft-simple", "draft-eagle3", "draft-dflash", "draft-dspark")
CORE: dict[str, Any] = {
    "Affinity": {"nodeAffinity": {}},
    "EnvVar": {"name": "A", "value": "1"},
    "LabelSelector": {"matchLabels": {"a": "b"}},
    "PodSecurityContext": {"fsGroup": 1},
    "Probe": {"tcpSocket": {"port": 1}},
    "ResourceRequirements": {"limits": {"cpu": "1"}},
    "SecurityContext": {"runAsNonRoot": True},
    "Toleration": {"operator": "Exists"},
    "TopologySpreadConstraint": {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"},
    "Volume": {"name": "v", "emptyDir": {}},
    "VolumeMount": {"name": "v", "mountPath": "/v"},
}
TEXTS = {
    "source": HTTP,
    "sha256": "0" * 64,
    "resourceName": "example.com/gpu",
    "tolerationKey": "example.com/gpu",
    "ephemeralStorage": "20Gi",
    "objective": "99.5",
    "window": "7d",
    "timeout": "30s",
    "quarantineDuration": "30s",
    "responseHeaderTimeout": "30s",
    "swapBudget": "30s",
    "name": "a",
}


@functools.cache
def children(kind: str, release: str) -> dict[str, list[dict[str, str]]]:
    """Return the rows of a kind in a release by the path above them."""
    below: dict[str, list[dict[str, str]]] = {}
    for path, row in expected(kind, release).items():
        above = path[: -len("[]")] if path.endswith(("[]", "{}")) else path.rpartition(".")[0]
        below.setdefault(above, []).append(row)
    return below


def value(random: Random, kind: str, release: str, row: dict[str, str]) -> Any:
    """Return a random valid value of a field, apart from the rules over several fields."""
    path, type_ = row["path"], row["type"]
    facts = json.loads(row["constraints"]) if row["constraints"] else {}
    rows = children(kind, release).get(path, [])
    if type_ in CORE:
        return copy.deepcopy(CORE[type_])
    if "enum" in facts:
        return random.choice(facts["enum"])
    if type_ == "object" and [each["path"] for each in rows] == [f"{path}{{}}"]:
        return {"a": "b"}
    if type_ == "object":
        chosen = [each for each in rows if each["required"] == "yes" or random.random() < 0.3]
        return {each["path"].rpartition(".")[2]: value(random, kind, release, each) for each in chosen}
    if type_ == "array":
        return [value(random, kind, release, rows[0])]
    if type_ == "boolean":
        return random.random() < 0.5
    if type_ == "integer":
        least = int(facts.get("minimum", 1))
        return random.choice([least, min(int(facts.get("maximum", least + 1)), least + 1)])
    if type_ == "number":
        return 0.5
    if "[0-9]+(" in facts.get("pattern", "") and path.rpartition(".")[2] not in TEXTS:
        return "1.5"
    return TEXTS.get(path.rpartition(".")[2], "a")


def document(random: Random, kind: str, release: str) -> Object:
    """Return a random document that its release accepts."""
    (root,) = children(kind, release)[""]
    spec = value(random, kind, release, root)
    block = spec.get("speculativeDecoding")
    if block:
        drafted = block.get("type") in DRAFTS and RELEASES.names.index(release) >= RELEASES.names.index("v0.9.15")
        for name in ("draftModelRef", "draftModel"):
            block.pop(name, None)
        if drafted and release in ("v0.9.18", "v0.9.19"):
            block["draftModelRef"] = "m1"
        elif drafted:
            block["type"] = "mtp"
    if "modelCache" in spec and spec["modelCache"].get("persistence") == "Ephemeral":
        spec["modelCache"].pop("claimName", None)
    for sharing in [spec.get("resources", {}).get("gpuSharing", {})]:
        sharing.pop("memoryLimitGiB", None)
        if sharing.pop("profile", None) or sharing.get("mode") == "partitioned":
            sharing.update(mode="partitioned", profile="1g.5gb")
    if spec.get("slo", {}).get("indicator") == "latency":
        spec["slo"]["latencyThreshold"] = "1.5"
    gpu = spec.get("hardware", {}).get("gpu", {})
    if gpu.pop("resourceClaims", None) is not None:
        gpu.pop("resourceName", None)
        gpu["resourceClaims"] = [{"name": "c", "resourceClaimName": "c"}]
    if release == "v0.8.9" and "resourceName" in gpu:
        gpu["resourceClaims"] = []
    if kind == "GPUQuota":
        spec.pop("selector", None)
        spec["namespaceRef"] = "ns"
    api = KINDS[kind].api_version
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "x", "namespace": "ns"}, "spec": spec}


def converted(value_: Object, origin: str, target: str) -> Batch:
    batch = Batch([MigratedDocument(copy.deepcopy(value_))])
    migrate(batch, kinds(), RELEASES, FAMILY.steps(), origin, target)
    return batch


def rendered(*values: Object) -> list[Any]:
    """Return everything that documents become, apart from notes on their release."""
    named = {(each["kind"], each["metadata"]["name"]) for each in values}
    others = [] if ("Model", "m1") in named else [model()]
    fleet = render_fleet(objects([*values, *others]).resources, Options())
    return [list(fleet.objects), [(p.path, p.rule) for p in fleet.problems if p.severity != "note"]]


PAIRS = [*pairwise(FORMS), (FORMS[0], FORMS[-1])]


@pytest.mark.parametrize(("older", "newer"), PAIRS)
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**48), kind=st.sampled_from(["InferenceService", "Model", "ModelRouter"]))
def test_there_and_back(older: str, newer: str, seed: int, kind: str) -> None:
    original = document(Random(seed), kind, older)
    assert not objects([original], releases={"llmkube": older}).problems
    there = converted(original, older, newer)
    changed = dict(there.documents[0].value)
    assert not objects([changed], releases={"llmkube": newer}).problems
    if not there.losses:
        back = converted(changed, newer, older)
        assert not back.losses
        assert back.documents[0].value == original
        assert rendered(changed) == rendered(original)


@pytest.mark.parametrize(("older", "newer"), PAIRS)
@settings(max_examples=EXAMPLES, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**48), kind=st.sampled_from(["InferenceService", "Model", "ModelRouter"]))
def test_back_lists_what_the_older_release_lacks(older: str, newer: str, seed: int, kind: str) -> None:
    original = document(Random(seed), kind, newer)
    assert not objects([original], releases={"llmkube": newer}).problems
    back = converted(original, newer, older)
    changed = dict(back.documents[0].value)
    assert not objects([changed], releases={"llmkube": older}).problems or back.losses
    if not back.losses:
        assert rendered(changed) == rendered(original)


@pytest.mark.parametrize(
    ("block", "origin", "target", "result", "losses"),
    [
        ({"type": "mtp"}, "v0.8.17", "v0.9.19", {"type": "mtp"}, 0),
        ({"type": "draft"}, "v0.8.17", "v0.9.14", {"type": "draft"}, 0),
        ({"type": "draft"}, "v0.8.17", "v0.9.15", None, 1),
        ({"type": "draft", "draftModelRef": "d"}, "v0.8.7", "v0.9.19", {"type": "draft", "draftModelRef": "d"}, 0),
        ({"type": "draft-mtp", "nDraftMax": 2}, "v0.9.19", "v0.9.17", {"type": "mtp", "nDraftMax": 2}, 0),
        ({"type": "none"}, "v0.9.19", "v0.9.16", {"type": "disabled"}, 0),
        ({"type": "ngram-mod"}, "v0.9.18", "v0.9.17", None, 1),
        ({"type": "draft-simple", "draftModelRef": "d"}, "v0.9.18", "v0.9.14", None, 1),
        ({"type": "mtp", "pMin": 0.5}, "v0.9.18", "v0.9.17", {"type": "mtp", "pMin": 0.5}, 1),
    ],
)
def test_speculative_decoding(block: Object, origin: str, target: str, result: Object | None, losses: int) -> None:
    batch = converted(isvc(speculativeDecoding=block), origin, target)
    assert batch.documents[0].value["spec"].get("speculativeDecoding") == result
    assert len(batch.losses) == losses
    renamed = result is not None and result["type"] != block["type"]
    assert bool(batch.notes) is renamed


def test_a_kind_that_the_older_release_lacks_is_a_loss() -> None:
    pool = made("ModelPool", "p", {"members": [{"inferenceServiceRef": {"name": "a"}}]})
    batch = converted(pool, "v0.9.16", "v0.9.15")
    assert [loss.path for loss in batch.losses] == ["kind"]


def test_names_of_resources_across_the_release_that_needs_an_empty_list() -> None:
    named = {"count": 1, "resourceName": "example.com/gpu"}
    gpus = [
        converted(model(hardware={"gpu": named}), origin, target).documents[0].value["spec"]["hardware"]["gpu"]
        for origin, target in (
            ("v0.8.8", "v0.8.9"),
            ("v0.8.12", "v0.8.9"),
            ("v0.8.8", "v0.9.19"),
            ("v0.9.19", "v0.8.8"),
        )
    ]
    assert gpus == [{**named, "resourceClaims": []}] * 2 + [named] * 2


@pytest.mark.parametrize(
    ("fields", "source", "losses"),
    [
        ({"source": "hf://org/repo"}, "org/repo", 0),
        ({"source": "org/repo"}, "org/repo", 0),
        ({"source": HTTP}, HTTP, 0),
        ({"source": "hf://org/repo@v1"}, "hf://org/repo@v1", 1),
        ({"source": "hf://org/repo", "files": ["a.gguf"]}, "hf://org/repo", 2),
    ],
)
def test_repositories_without_a_scheme(fields: Object, source: str, losses: int) -> None:
    original = model(**fields)
    batch = converted(original, "v0.8.18", "v0.8.17")
    changed = dict(batch.documents[0].value)
    assert changed["spec"]["source"] == source
    assert len(batch.losses) == losses
    if not losses:
        assert rendered(isvc(runtime="vllm", skipModelInit=True), changed) == rendered(
            isvc(runtime="vllm", skipModelInit=True), original
        )


def test_a_method_that_is_lost_takes_its_whole_block_with_it() -> None:
    block = {"type": "ngram-mod", "pMin": 0.5, "nDraftMax": 2}
    batch = converted(isvc(speculativeDecoding=block), "v0.9.18", "v0.9.17")
    assert [loss.path for loss in batch.losses] == ["spec.speculativeDecoding"]
    assert "speculativeDecoding" not in batch.documents[0].value["spec"]
