"""Conversions between releases: what becomes of each form, what is lost, and that nothing else changes."""

import copy
import itertools
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.checking import check
from components.contract.kinds import Kinds
from components.families.llmd.annotations import annotation_problems
from components.families.llmd.family import FAMILY
from components.families.llmd.kinds import RELEASES, VARIANT_AUTOSCALING
from components.families.migration import Batch, MigratedDocument, PlannedScaling, StackFacts, drop_losses, migrate
from tests.families.llmd.support import LABEL, fleet, hpa_in, of_lws, variant
from tests.families.migrated_texts import migrated_text
from tests.fleets import errors

Object = dict[str, Any]
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_MIGRATIONS", "40"))
KINDS = Kinds([VARIANT_AUTOSCALING])
CONTRACT, PARAMETERS, COST, CLASSLESS = "c0f645c", "v0.0.1", "v0.0.5", "v0.4.2"
TARGET, BOUNDS, LAST, ANNOTATED = "v0.5.0", "v0.6.0", "4bbb15fa", "v0.9.0"
NAMES = RELEASES.names[:-1]
PRICE = {"g6.xlarge": 0.8048}
"""On demand in us-east-1 (components/clouds/aws/prices): the cheapest type with an L4."""


class Facts(StackFacts):
    """What a stack says.

    Args:
        planned: What it plans for each VariantAutoscaling.
        uses_keda: Whether KEDA serves metrics.
    """

    prometheus = "http://prometheus:9090"

    def __init__(self, planned: PlannedScaling | None = None, *, uses_keda: bool = False) -> None:
        self.uses_keda = uses_keda
        self._planned = planned

    def price(self, instance_type: str) -> float | None:
        return PRICE.get(instance_type)

    def scaling(self, document: MigratedDocument) -> PlannedScaling | None:
        return self._planned


def converted(
    *documents: Object,
    origin: str,
    target: str,
    others: tuple[Object, ...] = (),
    stacks: StackFacts | None = None,
) -> Batch:
    """Convert copies of documents."""
    batch = Batch(
        [MigratedDocument(copy.deepcopy(each), "models.yaml") for each in documents],
        [MigratedDocument(copy.deepcopy(each), "models.yaml") for each in others],
        stacks=stacks or Facts(),
    )
    migrate(batch, KINDS, RELEASES, FAMILY.steps(), origin, target)
    return batch


def only(batch: Batch) -> Object:
    (document,) = batch.documents
    return dict(document.value)


def losses(batch: Batch) -> list[str]:
    return [loss.path for loss in batch.losses]


def spec_of(batch: Batch) -> Object:
    spec: Object = only(batch)["spec"]
    return spec


# -- each form


def test_alpha_and_beta_become_parameters() -> None:
    batch = converted(variant(), origin=CONTRACT, target=PARAMETERS)
    (entry,) = spec_of(batch)["modelProfile"]["accelerators"]
    assert list(entry) == ["acc", "accCount", "perfParms", "maxBatchSize"]
    assert entry["perfParms"] == {
        "decodeParms": {"alpha": "20.58", "beta": "0.41"},
        "prefillParms": {"gamma": "0", "delta": "0"},
    }
    assert batch.losses == []
    assert ["measure them" in note.reason for note in batch.notes] == [True]
    assert only(converted(only(batch), origin=PARAMETERS, target=CONTRACT)) == variant()


def test_a_prefill_has_no_place_in_the_contracts_form() -> None:
    parameters = {
        "decodeParms": {"alpha": "2e1", "beta": "0.41", "more": "1"},
        "prefillParms": {"gamma": "5.2", "delta": "0"},
    }
    document = variant("chat", {"acc": "L4", "accCount": 1, "perfParms": parameters, "maxBatchSize": 4})
    batch = converted(document, origin=PARAMETERS, target=CONTRACT)
    (entry,) = spec_of(batch)["modelProfile"]["accelerators"]
    assert entry == {"acc": "L4", "accCount": 1, "alpha": "20", "beta": "0.41", "maxBatchSize": 4}
    at = "spec.modelProfile.accelerators[0].perfParms"
    assert losses(batch) == [f"{at}.decodeParms.more", f"{at}.prefillParms.gamma", f"{at}.decodeParms.alpha"]


def test_the_load_in_the_status_is_converted() -> None:
    load = {"arrivalRate": "40.00", "avgLength": "178.00"}
    status = {"currentAlloc": {"waitAverage": "1.00", "load": load}}
    batch = converted(variant(status=status), origin=CONTRACT, target=PARAMETERS)
    assert only(batch)["status"]["currentAlloc"] == {
        "ttftAverage": "1.00",
        "load": {"arrivalRate": "40.00", "avgInputTokens": "0.00", "avgOutputTokens": "178.00"},
    }
    assert only(converted(only(batch), origin=PARAMETERS, target=CONTRACT))["status"] == status
    batch.documents[0].value["status"]["currentAlloc"]["load"]["avgInputTokens"] = "12.00"
    assert "status.currentAlloc.load.avgInputTokens" in losses(
        converted(only(batch), origin=PARAMETERS, target=CONTRACT)
    )


@pytest.mark.parametrize(
    ("label", "count", "cost"), [("L4", 1, "80.48"), ("4xL4", 1, None), ("TPU", 1, None), (None, 1, None)]
)
def test_the_cost_comes_from_the_price_table(label: str | None, count: int, cost: str | None) -> None:
    entry = {"acc": label or "L4", "accCount": count, "alpha": "20.58", "beta": "0.41", "maxBatchSize": 4}
    batch = converted(variant("chat", entry, accelerator=label), origin=CONTRACT, target=COST)
    if label == "4xL4":
        assert float(spec_of(batch)["variantCost"]) > 4 * 80.48, "of the smallest type with as many"
    else:
        assert spec_of(batch).get("variantCost") == cost
    back = converted(only(batch), origin=COST, target=CONTRACT)
    assert "variantCost" not in spec_of(back)
    assert back.losses == []


def test_a_cost_that_is_written_stays_or_is_a_loss() -> None:
    document = only(converted(variant(variantCost="7.5"), origin=COST, target=CLASSLESS))
    assert document["spec"]["variantCost"] == "7.5"
    batch = converted(variant(variantCost="7.5"), origin=COST, target=CONTRACT)
    assert losses(batch) == ["spec.variantCost"]


def test_the_class_is_a_loss_and_comes_back_as_a_placeholder() -> None:
    batch = converted(variant(), origin=CONTRACT, target=CLASSLESS)
    assert "sloClassRef" not in spec_of(batch)
    assert [loss.path for loss in batch.losses] == ["spec.sloClassRef"]
    assert "nothing read it" in batch.losses[0].reason
    back = converted(only(batch), origin=CLASSLESS, target=CONTRACT)
    assert spec_of(back)["sloClassRef"] == {"name": "service-classes-config", "key": "premium.yaml"}
    assert losses(back) == ["spec.sloClassRef"]


def test_the_workload_is_named_and_the_profile_is_lost() -> None:
    batch = converted(variant(), origin=CLASSLESS, target=TARGET)
    assert spec_of(batch) == {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
        "modelID": "tiny",
    } | {"sloClassRef": variant()["spec"]["sloClassRef"]}
    assert losses(batch) == ["spec.modelProfile", "spec.sloClassRef"]
    assert not [note for note in converted(variant(), origin=CONTRACT, target=TARGET).notes if "Profile" in note.path]


def test_the_kind_of_the_workload_is_that_in_the_files() -> None:
    (workload,) = of_lws()
    batch = converted(variant(), origin=CONTRACT, target=TARGET, others=(workload,))
    assert spec_of(batch)["scaleTargetRef"]["kind"] == "LeaderWorkerSet"
    elsewhere = {**workload, "metadata": {"name": "chat", "namespace": "other"}}
    batch = converted(variant(), origin=CONTRACT, target=TARGET, others=(elsewhere,))
    assert spec_of(batch)["scaleTargetRef"]["kind"] == "Deployment"


def of_target(name: str = "chat", **fields: Any) -> Object:
    """A VariantAutoscaling of v0.5.0."""
    document = variant("chat")
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    document["spec"] = {"scaleTargetRef": reference, "modelID": "tiny", **fields}
    return document


def test_a_workload_of_another_name_renames_the_variant() -> None:
    batch = converted(of_target("decode"), origin=TARGET, target=CLASSLESS)
    assert only(batch)["metadata"]["name"] == "decode"
    assert losses(batch) == ["spec.scaleTargetRef.name"]
    assert "serviceLevels.loads" in batch.losses[0].reason
    same = converted(of_target(), origin=TARGET, target=CLASSLESS)
    assert spec_of(same) == {"modelID": "tiny"}
    assert same.losses == []


def hpa(name: str = "scaler", target: str = "chat", **fields: Any) -> Object:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 7, **fields},
    }


@pytest.mark.parametrize(
    ("others", "bounds"),
    [
        ((), {"maxReplicas": 10}),
        ((hpa(),), {"maxReplicas": 7}),
        ((hpa(minReplicas=2),), {"minReplicas": 2, "maxReplicas": 7}),
        ((hpa(target="other", minReplicas=2),), {"maxReplicas": 10}),
    ],
)
def test_bounds_are_those_of_the_known_autoscaler(others: tuple[Object, ...], bounds: Object) -> None:
    batch = converted(of_target(), origin="v0.5.1", target=BOUNDS, others=others)
    assert spec_of(batch) == of_target()["spec"] | bounds
    back = converted(only(batch), origin=BOUNDS, target="v0.5.1", others=others)
    assert only(back) == of_target()
    assert back.losses == []


@pytest.mark.parametrize(
    ("bounds", "lost"),
    [
        ({"maxReplicas": 4}, ["spec.maxReplicas"]),
        ({"minReplicas": 0, "maxReplicas": 10}, ["spec.minReplicas", "spec.maxReplicas"]),
        ({}, ["spec.minReplicas", "spec.maxReplicas"]),
    ],
)
def test_bounds_have_no_place_before(bounds: Object, lost: list[str]) -> None:
    batch = converted(of_target(**bounds), origin=BOUNDS, target="v0.5.1")
    assert only(batch) == of_target()
    assert losses(batch) == lost


def test_an_annotated_autoscaler_replaces_the_kind() -> None:
    document = of_target(minReplicas=1, maxReplicas=3, variantCost="80.48")
    document["metadata"]["annotations"] = {"team": "chat"}
    batch = converted(document, origin=LAST, target=ANNOTATED)
    assert only(batch) == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": "chat",
            "namespace": "ns",
            "labels": {LABEL: "L4"},
            "annotations": {
                "team": "chat",
                "llm-d.ai/managed": "true",
                "llm-d.ai/model-id": "tiny",
                "llm-d.ai/variant-cost": "80.48",
            },
        },
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [
                {
                    "type": "External",
                    "external": {
                        "metric": {
                            "name": "wva_desired_replicas",
                            "selector": {"matchLabels": {"variant_name": "chat"}},
                        },
                        "target": {"type": "AverageValue", "averageValue": "1"},
                    },
                }
            ],
        },
    }
    assert [(loss.path, "otherKinds: apply" in loss.reason) for loss in batch.losses] == [("kind", True)]


TRIGGER = {
    "type": "prometheus",
    "metricType": "AverageValue",
    "metadata": {
        "serverAddress": "http://prometheus:9090",
        "query": 'max(wva_desired_replicas{variant_name="chat",namespace="ns"})',
        "threshold": "1",
    },
}


def test_with_keda_a_scaled_object_replaces_the_kind() -> None:
    """KEDA serves HorizontalPodAutoscalers nothing."""
    batch = converted(of_target(maxReplicas=3), origin=LAST, target=ANNOTATED, stacks=Facts(uses_keda=True))
    made = only(batch)
    assert (made["apiVersion"], made["kind"]) == ("keda.sh/v1alpha1", "ScaledObject")
    assert made["spec"] == {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"},
        "minReplicaCount": 1,
        "maxReplicaCount": 3,
        "triggers": [TRIGGER],
    }
    assert list(annotation_problems(made)) == []
    assert losses(batch) == ["kind"]


def deployment(**metadata: Any) -> Object:
    labels = {"app": "chat"}
    container = {"name": "vllm", "image": "vllm/vllm-openai", "ports": [{"containerPort": 8000}]}
    template = {"metadata": {"labels": labels | {"more": "1"}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "ns", **metadata},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def pool(labels: Object, **metadata: Any) -> Object:
    return {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "chat", "namespace": "ns", **metadata},
        "spec": {
            "selector": {"matchLabels": labels},
            "targetPorts": [{"number": 8000}],
            "endpointPickerRef": {"name": "chat-epp", "port": {"number": 9002}},
        },
    }


@pytest.mark.parametrize("is_planned", [False, True])
def test_a_variant_without_replicas_gets_a_pool_that_wakes_it(*, is_planned: bool) -> None:
    """The API server refuses a HorizontalPodAutoscaler with 0; internal/engines/scalefromzero needs the pool."""
    others = () if is_planned else (deployment(),)
    stacks = Facts(PlannedScaling(least=0, most=3, workload=deployment())) if is_planned else None
    variant_ = of_target(minReplicas=0, maxReplicas=3)
    batch = converted(variant_, origin=LAST, target=ANNOTATED, others=others, stacks=stacks)
    scaler, made = (document.value for document in batch.documents)
    assert (scaler["kind"], scaler["spec"]["minReplicaCount"]) == ("ScaledObject", 0)
    assert made == pool({"app": "chat"})
    assert losses(batch) == ["kind"]


@pytest.mark.parametrize(
    ("others", "pools", "lost"),
    [
        ((deployment(), pool({"app": "chat"}, name="mine")), 0, []),
        ((deployment(), pool({"app": "chat"}, namespace="other")), 1, []),
        ((deployment(), pool({"app": "other"})), 1, []),
        ((), 0, ["spec.minReplicas"]),
    ],
)
def test_a_pool_is_written_where_none_selects_the_pods(
    others: tuple[Object, ...], pools: int, lost: list[str]
) -> None:
    batch = converted(of_target(minReplicas=0, maxReplicas=3), origin=LAST, target=ANNOTATED, others=others)
    assert [document.kind for document in batch.documents] == ["ScaledObject", *["InferencePool"] * pools]
    assert losses(batch) == [*lost, "kind"]


def test_planned_sizes_become_bounds() -> None:
    """What the stack computes from latency targets stays, although nothing computes it later."""
    stacks = Facts(PlannedScaling(least=2, most=6))
    batch = converted(variant(), origin=CONTRACT, target=ANNOTATED, stacks=stacks)
    assert (spec_of(batch)["minReplicas"], spec_of(batch)["maxReplicas"]) == (2, 6)
    assert "spec.modelProfile" in losses(batch)
    assert ["2 to 6 replicas are what the stacks plan" in note.reason for note in batch.notes].count(True) == 1


def test_all_that_has_no_annotation_is_listed() -> None:
    document = of_target(maxReplicas=3, more=1)
    document["metadata"] |= {"finalizers": ["x/y"], "resourceVersion": "7"}
    document["status"] = {"actuation": {"applied": True}, "conditions": []}
    batch = converted(document, origin=LAST, target=ANNOTATED)
    assert set(losses(batch)) == {
        "metadata.finalizers",
        "metadata.resourceVersion",
        "spec.more",
        "status.actuation",
        "status.conditions",
        "kind",
    }
    assert set(only(batch)["metadata"]) == {"name", "namespace", "labels", "annotations"}


def signal(variant_name: str) -> Object:
    metric = {"name": "wva_desired_replicas", "selector": {"matchLabels": {"variant_name": variant_name}}}
    target = {"type": "AverageValue", "averageValue": "1"}
    return {"type": "External", "external": {"metric": metric, "target": target}}


def test_an_autoscaler_of_the_files_is_annotated() -> None:
    """As docs/developer-guide/migrating-from-va-crd.md has it: one object is left."""
    other = hpa(minReplicas=1, metrics=[signal("chat")])
    batch = converted(of_target(maxReplicas=3), origin=LAST, target=ANNOTATED, others=(other,))
    assert batch.documents == []
    (scaler,) = (document.value for document in batch.others)
    assert scaler["metadata"]["annotations"] == {"llm-d.ai/managed": "true", "llm-d.ai/model-id": "tiny"}
    assert scaler["metadata"]["labels"] == {LABEL: "L4"}
    assert scaler["spec"]["metrics"] == [signal("scaler")]
    assert (scaler["spec"]["minReplicas"], scaler["spec"]["maxReplicas"]) == (1, 3), "3 was the lower one before"
    assert list(annotation_problems(scaler)) == []
    assert losses(batch) == ["kind"]
    back = converted(origin=ANNOTATED, target=LAST, others=(dict(scaler),))
    assert only(back)["metadata"] == {"name": "scaler", "namespace": "ns", "labels": {LABEL: "L4"}}
    assert "annotations" not in back.others[0].value["metadata"]


@pytest.mark.parametrize(
    ("others", "fields", "lost", "noted"),
    [
        ((hpa(),), {"minReplicas": 8, "maxReplicas": 9}, ["spec.maxReplicas", "kind"], True),
        ((hpa(minReplicas=1, metrics=[signal("chat")]),), {"maxReplicas": 7}, ["kind"], False),
    ],
)
def test_what_an_annotated_autoscaler_does_not_do_is_said(
    others: tuple[Object, ...], fields: Object, lost: list[str], *, noted: bool
) -> None:
    batch = converted(of_target(**fields), origin=LAST, target=ANNOTATED, others=others)
    assert losses(batch) == lost
    assert any("does not read wva_desired_replicas" in note.reason for note in batch.notes) is noted


def test_annotated_autoscalers_of_the_files_become_variants() -> None:
    scaled_object = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {
            "name": "chat",
            "namespace": "ns",
            "annotations": {"llm-d.ai/managed": "true", "llm-d.ai/model-id": "tiny", "team": "chat"},
        },
        "spec": {"scaleTargetRef": {"name": "decode"}, "maxReplicaCount": 10},
    }
    batch = converted(origin=ANNOTATED, target=LAST, others=(scaled_object, hpa()))
    assert only(batch) == {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {"name": "chat", "namespace": "ns"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "decode"},
            "modelID": "tiny",
            "maxReplicas": 10,
        },
    }
    scaler, other = (document.value for document in batch.others)
    assert scaler["metadata"]["annotations"] == {"team": "chat"}
    assert other == hpa()


def test_comments_survive() -> None:
    text = """\
apiVersion: llmd.ai/v1alpha1
kind: VariantAutoscaling
metadata: {name: chat}
spec:
  modelID: tiny  # what clients ask for
  sloClassRef: {name: a, key: b}
  # measured in May
  modelProfile:
    accelerators:
    - acc: L4
      accCount: 1
      alpha: "20.58"  # at batch 1
      beta: "0.41"
      maxBatchSize: 4  # max-num-seqs
"""
    made = migrated_text(text, lambda batch: migrate(batch, KINDS, RELEASES, FAMILY.steps(), CONTRACT, PARAMETERS))
    for comment in ("# what clients ask for", "# measured in May", "# at batch 1", "# max-num-seqs"):
        assert comment in made
    (line,) = (line for line in made.splitlines() if "20.58" in line)
    assert line.endswith("# at batch 1")


# -- properties

DECIMALS = st.decimals(0, 500, places=3).map(lambda number: f"{number:f}")
NUMBERS = st.integers(1, 64)
COSTS = st.none() | DECIMALS


@st.composite
def documents(draw: st.DrawFn, release: str) -> Object:
    """Return a valid manifest of a release."""
    order = NAMES.index(release)

    def before(name: str) -> bool:
        return order < NAMES.index(name)

    spec: Object = {}
    if not before(TARGET):
        reference = {"kind": draw(st.sampled_from(["Deployment", "LeaderWorkerSet"]))}
        reference["name"] = draw(st.sampled_from(["chat", "decode"]))
        spec["scaleTargetRef"] = reference | draw(st.sampled_from([{}, {"apiVersion": "apps/v1"}]))
    spec["modelID"] = draw(st.sampled_from(["tiny", "org/large"]))
    if before(COST) or (before("v0.4.1") and draw(st.booleans())):
        spec["sloClassRef"] = {"name": "service-classes-config", "key": draw(st.sampled_from(["premium.yaml", "x"]))}
    if before(COST) or (before(TARGET) and draw(st.booleans())):
        entries = []
        for accelerator in draw(st.lists(st.sampled_from(["L4", "A100", "odd"]), min_size=1, max_size=2)):
            entry: Object = {"acc": accelerator, "accCount": draw(NUMBERS)}
            numbers = {"alpha": draw(DECIMALS), "beta": draw(DECIMALS)}
            if release == CONTRACT:
                entry |= numbers
            elif before(COST) or draw(st.booleans()):
                prefill = draw(st.sampled_from([{"gamma": "0", "delta": "0"}, {"gamma": "5.2", "delta": "0.1"}]))
                entry["perfParms"] = {"decodeParms": numbers, "prefillParms": prefill}
            entries.append(entry | {"maxBatchSize": draw(NUMBERS)})
        spec["modelProfile"] = {"accelerators": entries}
    cost = None if before(COST) else draw(COSTS)
    if cost is not None:
        spec["variantCost"] = cost
    if not before(BOUNDS):
        most = draw(st.none() | st.integers(2, 20))
        bounds = {"minReplicas": draw(st.none() | st.integers(0, 2)), "maxReplicas": most}
        spec |= {key: value for key, value in bounds.items() if value is not None}
    labels = draw(st.sampled_from([{}, {LABEL: "L4"}, {LABEL: "odd"}]))
    metadata = {"name": "chat", "namespace": "ns", **({"labels": labels} if labels else {})}
    return {"apiVersion": "llmd.ai/v1alpha1", "kind": "VariantAutoscaling", "metadata": metadata, "spec": spec}


PAIRS = [*itertools.pairwise(NAMES), (NAMES[0], NAMES[-1]), (NAMES[1], CLASSLESS), (COST, LAST)]
ROUTES = [*PAIRS, *((after, before) for before, after in PAIRS)]


@pytest.mark.parametrize(("origin", "target"), ROUTES)
def test_the_result_is_valid_in_its_release_once_losses_are_dropped(origin: str, target: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(documents(origin))
    def run(document: Object) -> None:
        assert check(document, VARIANT_AUTOSCALING.at(origin))[1] == [], "the origin is valid"
        batch = converted(document, origin=origin, target=target)
        left = [problem for each in batch.documents for problem in drop_losses(each, KINDS, target)]
        # What an older release requires and a newer one lacks cannot be made up.
        assert all("is required by" in problem for problem in left), left
        if not left:
            assert check(only(batch), VARIANT_AUTOSCALING.at(target))[1] == []
        else:
            assert batch.losses

    run()


@pytest.mark.parametrize(("origin", "target"), ROUTES)
def test_there_and_back_is_the_same_where_nothing_is_lost(origin: str, target: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(documents(origin))
    def run(document: Object) -> None:
        there = converted(document, origin=origin, target=target)
        if not there.losses:
            back = converted(only(there), origin=target, target=origin)
            assert back.losses == []
            assert only(back) == document

    run()


@pytest.mark.parametrize(("origin", "target"), ROUTES)
def test_the_same_is_rendered_where_nothing_is_lost(origin: str, target: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(documents(origin))
    def run(document: Object) -> None:
        batch = converted(document, origin=origin, target=target)
        if not batch.losses:
            assert outcome(only(batch)) == outcome(document)

    run()


def outcome(document: Object) -> list[Any]:
    """Return the objects that a variant of the workload ``chat`` becomes natively, and the fields with errors."""
    found = fleet(document, *of_lws())
    bodies = [body for item in found.rendered if item.kind == "VariantAutoscaling" for body in item.objects]
    return [bodies, sorted({problem.reason for problem in errors(found)})]


def test_a_migrated_variant_is_rendered_as_before() -> None:
    """Up to v0.4.2, as long as the profile is there."""
    before = fleet(variant(), *of_lws())
    for target in NAMES[1 : NAMES.index(TARGET)]:
        after = only(converted(variant(), origin=CONTRACT, target=target))
        assert hpa_in(fleet(after, *of_lws())) == hpa_in(before), target
