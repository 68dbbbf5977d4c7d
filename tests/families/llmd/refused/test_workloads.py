"""What a plan finds out about the workload of a variant, and what it warns of (WVA spec 15)."""

import pytest

from components.contract.problems import Severity
from components.fleet.levels import LatencyTargets, ServiceClass, ServiceLevels
from components.fleet.words import Realization
from tests.families.llmd import support
from tests.families.llmd.refused.support import ENTRY, LABELLED, NATIVE, OPERATOR, promising, refusals, told
from tests.families.llmd.support import MODEL, Object, levels, profile, variant

ENGINES: dict[str, tuple[list[Object], tuple[str, ...]]] = {
    "llamacpp": (support.of_llmkube(runtime="llamacpp", extraArgs=[]), ("vllm:request_success_total", "llamacpp")),
    "a second name": (
        support.of_llmkube(extraArgs=["--served-model-name", "first", MODEL]),
        ("'tiny' is name 2 of Deployment 'chat'", "'first', as model_name"),
    ),
}


@pytest.mark.parametrize("case", ENGINES)
def test_what_the_controller_cannot_see(case: str) -> None:
    documents, words = ENGINES[case]
    ((who, path, reason),) = refusals(*documents, variant(), how=OPERATOR)
    assert (who, path) == ("VariantAutoscaling/chat", "spec.modelID")
    assert [word for word in words if word not in reason] == [], reason
    assert "spec.modelID" not in {path for _, path, _ in refusals(*documents, variant(), how=NATIVE)}


@pytest.mark.parametrize("how", Realization)
def test_nothing_is_warned_of_what_is_right(how: Realization) -> None:
    assert told(*support.of_llmkube(), variant(), how=how) == {}


WARNED: dict[str, tuple[list[Object], Object, ServiceLevels, str, tuple[str, ...]]] = {
    "another ConfigMap": (
        support.of_llmkube(),
        variant(sloClassRef={"name": "premium", "key": "premium.yaml"}),
        levels(),
        "spec.sloClassRef.name",
        ("'premium' has no effect", "'tiny' in 'Premium'", "write 'service-classes-config'"),
    ),
    "another class": (
        support.of_llmkube(),
        variant(sloClassRef={"name": "service-classes-config", "key": "opt-125m"}),
        promising(ServiceClass("Gold", 1, {MODEL: LatencyTargets(24, 500)})),
        "spec.sloClassRef.key",
        ("'opt-125m' has no effect", "'tiny' in 'Gold'", "write 'gold.yaml'"),
    ),
    "another batch than the engine's": (
        support.of_llmkube(extraArgs=["--served-model-name", MODEL, "--max-num-seqs", "256"]),
        variant(),
        levels(),
        f"{ENTRY}.maxBatchSize",
        (
            "is 4, but Deployment 'chat' processes 256 requests concurrently (--max-num-seqs 256)",
            "with fewer concurrent requests",
        ),
    ),
    "a larger batch than the engine's": (
        support.of_llmkube(extraArgs=["--served-model-name", MODEL, "--max-num-seqs", "3"]),
        variant(),
        levels(),
        f"{ENTRY}.maxBatchSize",
        (
            "is 4, but Deployment 'chat' processes 3 requests concurrently (--max-num-seqs 3)",
            "the plan computes with 3;",
        ),
    ),
    "a larger batch than the engine's default": (
        support.of_llmkube(),
        variant("chat", profile(batch=300)),
        levels(),
        f"{ENTRY}.maxBatchSize",
        ("is 300, but Deployment 'chat' processes 256 requests concurrently (vllm", "without --max-num-seqs"),
    ),
    "other nodes": (
        support.of_llmkube(),
        variant("chat", profile("H100"), accelerator="H100"),
        levels(),
        LABELLED,
        ("is 'H100'", "g6.xlarge (L4)"),
    ),
    "nothing promised": (
        support.of_llmkube(),
        variant(),
        promising(ServiceClass("Premium", 1, {MODEL: LatencyTargets(0, 0)})),
        "spec.modelID",
        ("class 'Premium' sets no target", "itlMs and ttftMs are 0"),
    ),
}


@pytest.mark.parametrize("how", Realization)
@pytest.mark.parametrize("case", WARNED)
def test_it_is_warned_of(case: str, how: Realization) -> None:
    documents, document, asked, path, words = WARNED[case]
    found = told(*documents, document, asked=asked, how=how)
    assert set(found) == {path}
    assert [word for word in words if word not in found[path]] == [], found[path]


@pytest.mark.parametrize("how", Realization)
def test_an_entry_for_another_accelerator_is_noted(how: Realization) -> None:
    documents = (*support.of_llmkube(), variant("chat", profile(), profile("H100")))
    assert told(*documents, how=how) == {}
    found = told(*documents, severity=Severity.NOTE, how=how)["spec.modelProfile.accelerators[1]"]
    assert "is for comparison only: the variant runs on 'L4'" in found
    assert "'H100'" in found


@pytest.mark.parametrize("how", Realization)
def test_the_same_batch_is_not(how: Realization) -> None:
    documents = support.of_llmkube(extraArgs=["--served-model-name", MODEL, "--max-num-seqs=4"])
    assert told(*documents, variant(), how=how) == {}


# -- accelerators


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 2), (4, 4)])
def test_the_accelerators_of_all_pods_of_a_group_count(size: int, count: int) -> None:
    for given in (1, 2, 4):
        found = refusals(*support.of_lws(size=size), variant("chat", profile(count=given)))
        paths = [path for _, path, _ in found]
        assert paths == ([] if given == count else [f"{ENTRY}.accCount"]), found
        assert all(
            f"is {given}, and a replica of LeaderWorkerSet 'chat' requests {count}" in each[2] for each in found
        )


def test_a_name_for_several_is_as_many() -> None:
    """``4xA100`` is a name for four of them (WVA spec 12)."""
    documents = support.of_lws(size=4)
    assert refusals(*documents, variant("chat", profile("4xL4"), accelerator="4xL4")) == []
    assert refusals(*documents, variant("chat", profile("2xL4", count=2), accelerator="2xL4")) == []
    ((_, path, reason),) = refusals(*documents, variant("chat", profile("2xL4"), accelerator="2xL4"))
    assert path == f"{ENTRY}.accCount"
    assert "is 1 times 2 (2xL4), and a replica of LeaderWorkerSet 'chat' requests 4" in reason
    assert "write 2 with" in reason


def test_pods_without_accelerators() -> None:
    documents = support.of_lws()
    container = documents[0]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "1"}}
    assert "request no accelerators" in told(*documents, variant())[f"{ENTRY}.accCount"]


def test_an_engine_that_is_not_known() -> None:
    documents = support.of_llmkube(runtime="generic", image="example.com/engine:v1", extraArgs=[])
    found = told(*documents, variant(), how=OPERATOR)
    assert "reads vllm:request_success_total only" in found["spec.modelID"]
    assert "model_name 'tiny'" in found["spec.modelID"]


def test_a_name_that_clients_do_not_ask_for() -> None:
    """Where nobody knows what an engine calls its model, its endpoint tells what it should be."""
    documents = support.of_llmkube(runtime="llamacpp", extraArgs=[])
    found = told(*documents, variant())
    assert found["spec.modelID"].startswith("'tiny' is not what clients ask InferenceService/chat for ('")
    asked = promising(ServiceClass("Premium", 1, {"chat-weights": LatencyTargets(24, 500)}))
    assert "spec.modelID" not in told(*documents, variant(modelID="chat-weights"), asked=asked)
