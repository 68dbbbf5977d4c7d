"""Does a pod fit the nodes that it may land on? (aws-gpu spec 1 and 18)"""

from typing import Any

import pytest

from components.contract.problems import Problem
from components.fleet.nodes.fit import fit
from tests.fleets import errors, fleet_of, open_model, playground, runner, service


def flavor(name: str = "f", instance_type: str | None = "g5.2xlarge", **limits: Any) -> dict[str, Any]:
    named = {key.replace("gpu", "nvidia.com/gpu"): value for key, value in limits.items()}
    params = {"params": {"INSTANCE-TYPE": instance_type}} if instance_type else {}
    return {"name": name, "limits": named, **params}


def problems(*flavors: dict[str, Any], cpu: str = "1", memory: str = "1Gi", **spec: Any) -> list[Problem]:
    need = {"cpu": cpu, "memory": memory}
    config = {"resources": {"requests": need, "limits": need}}
    fleet = fleet_of(open_model(flavors=list(flavors)), playground(backendRuntimeConfig=config, **spec))
    assert not errors(fleet), errors(fleet)
    return list(fit(fleet))


@pytest.mark.parametrize(
    ("instance_type", "gpus"), [("g5.2xlarge", 1), ("g5.12xlarge", 4), ("p5.48xlarge", 8), ("p4d.24xlarge", 8)]
)
def test_as_many_accelerators_as_there_are_fit_and_one_more_does_not(instance_type: str, gpus: int) -> None:
    assert problems(flavor(instance_type=instance_type, gpu=gpus)) == []
    (problem,) = problems(flavor(instance_type=instance_type, gpu=gpus + 1))
    assert problem.severity == "error"
    assert problem.path == "spec.modelClaim.modelName"
    for words in (f"requests {gpus + 1} nvidia.com/gpu", f"{instance_type} has only {gpus}", "TP", "PP"):
        assert words in problem.reason


def test_the_problem_says_where() -> None:
    (problem,) = problems(flavor(gpu=2))
    assert (problem.file, problem.kind, problem.name) == ("fleet.yaml", "Playground", "p")
    assert problem.line > 1
    assert "'f'" in problem.reason
    assert "'m'" in problem.reason


def test_claimed_flavors_are_where_the_problem_is() -> None:
    claim = {"modelName": "m", "inferenceFlavors": ["b"]}
    (problem,) = problems(flavor("a", gpu=1), flavor("b", gpu=9), modelClaim=claim)
    assert problem.path == "spec.modelClaim.inferenceFlavors"
    assert "'b'" in problem.reason


@pytest.mark.parametrize("instance_type", ["m7i.2xlarge", "inf2.xlarge", "g4ad.xlarge"])
def test_accelerators_of_another_kind_do_not_count(instance_type: str) -> None:
    (problem,) = problems(flavor(instance_type=instance_type, gpu=1))
    assert "nvidia.com/gpu" in problem.reason
    assert instance_type in problem.reason


@pytest.mark.parametrize(
    ("name", "close"),
    [("g5.2xlrage", "g5.2xlarge"), ("p5.48xl", "p5.48xlarge"), ("m7i.largest", "m7i.large"), ("t3.lage", "t3.large")],
)
def test_an_unknown_type_is_named_with_the_nearest(name: str, close: str) -> None:
    (problem,) = problems(flavor(instance_type=name, gpu=1))
    assert repr(name) in problem.reason
    assert close in problem.reason


def test_a_type_like_no_other_is_unknown_all_the_same() -> None:
    (problem,) = problems(flavor(instance_type="zzzzzzz", gpu=1))
    assert "did you mean" not in problem.reason


@pytest.mark.parametrize(
    ("cpu", "memory", "words"),
    [("8", "1Gi", "8.00 cpu"), ("1", "32Gi", "32.0Gi memory"), ("200", "1Gi", "request less")],
)
def test_kubelet_and_system_need_their_share(cpu: str, memory: str, words: str) -> None:
    """A g5.2xlarge has 8 cores and 32 GiB."""
    (problem,) = problems(flavor(gpu=1), cpu=cpu, memory=memory)
    assert words in problem.reason
    assert "allocatable" in problem.reason


@pytest.mark.parametrize(
    ("instance_type", "need", "cpu", "advised"),
    [
        # One type offers everything that the pod requests.
        ("m7i.2xlarge", {"nvidia.com/gpu": 1}, "1", "choose another INSTANCE-TYPE"),
        ("g5.2xlarge", {"aws.amazon.com/neuron": 1}, "1", "choose another INSTANCE-TYPE"),
        ("g5.2xlarge", {"nvidia.com/gpu": 4}, "1", "choose an INSTANCE-TYPE with more"),
        # No type has it: MIG devices exist only where a device plugin splits GPUs.
        (
            "p4d.24xlarge",
            {"nvidia.com/mig-1g.5gb": 1},
            "1",
            "no instance type has nvidia.com/mig-1g.5gb; request nvidia.com/gpu",
        ),
        ("m7i.2xlarge", {"gpu.intel.com/i915": 1}, "1", "no instance type has gpu.intel.com/i915; request none"),
        ("p5.48xlarge", {"nvidia.com/gpu": 16}, "1", "has only 8, and no instance type has what the pod requests; "),
        (
            "m7i.2xlarge",
            {"nvidia.com/gpu": 1},
            "500",
            "no instance type has what the pod requests; request none, or request less",
        ),
    ],
)
def test_another_type_is_advised_only_where_one_has_what_is_asked(
    instance_type: str, need: dict[str, int], cpu: str, advised: str
) -> None:
    named = {"name": "f", "limits": need, "params": {"INSTANCE-TYPE": instance_type}}
    found = [problem.reason for problem in problems(named, cpu=cpu)]
    (reason,) = [reason for reason in found if next(iter(need)) in reason]
    assert advised in reason
    assert ("choose an" in reason) == advised.startswith("choose an")


@pytest.mark.parametrize(("cpu", "advised"), [("12", "request less, or use g5.4xlarge"), ("200", "request less")])
def test_a_larger_type_is_advised_only_where_there_is_one(cpu: str, advised: str) -> None:
    (problem,) = problems(flavor(gpu=1), cpu=cpu)
    assert problem.reason.endswith(advised)


def test_the_next_larger_type_of_the_same_accelerator_is_proposed() -> None:
    (problem,) = problems(flavor(gpu=1), cpu="12")
    assert "g5.4xlarge" in problem.reason


def test_cpu_and_memory_just_below_fit() -> None:
    assert problems(flavor(gpu=1), cpu="7", memory="28Gi") == []


@pytest.mark.parametrize(
    ("memory", "told"), [("30Gi", "requests 30.0Gi memory"), ("28746Mi", "requests 28.1Gi memory")]
)
def test_the_message_tells_what_may_be_requested(memory: str, told: str) -> None:
    """A g5.2xlarge has 28745 MiB left; rounded to 28.1Gi, the number would not fit either."""
    (problem,) = problems(flavor(gpu=1), memory=memory)
    assert told in problem.reason
    assert "g5.2xlarge has only 28.0Gi memory allocatable" in problem.reason
    assert problems(flavor(gpu=1), memory="28745Mi") == []


def test_huge_pages_count_where_the_environment_or_the_pod_wants_efa() -> None:
    """Of a g5.8xlarge 115.4 GiB are left, and 105.4 with EFA."""
    model = open_model(flavors=[flavor(instance_type="g5.8xlarge", gpu=1)])
    need = {"cpu": "1", "memory": "110Gi"}
    fleet = fleet_of(model, playground(backendRuntimeConfig={"resources": {"requests": need, "limits": need}}))
    assert fit(fleet) == ()
    (problem,) = fit(fleet, {"g5.8xlarge"})
    assert "only 105.5Gi memory allocatable beside the huge pages that EFA sets aside" in problem.reason
    asking = {
        **flavor(instance_type="g5.8xlarge", gpu=1),
        "limits": {"nvidia.com/gpu": 1, "vpc.amazonaws.com/efa": 1},
    }
    (problem,) = problems(asking, memory="110Gi")
    assert "huge pages" in problem.reason


def test_everything_that_does_not_fit_is_said_at_once() -> None:
    found = " ".join(problem.reason for problem in problems(flavor(gpu=2), cpu="9", memory="64Gi"))
    assert all(words in found for words in ("9.00 cpu", "64.0Gi memory", "2 nvidia.com/gpu"))


def test_every_flavor_is_looked_at() -> None:
    found = problems(flavor("a", gpu=1), flavor("b", "g5.large", gpu=1))
    assert ["'b'" in problem.reason for problem in found] == [True]


def test_without_instance_type_nothing_is_known() -> None:
    assert problems(flavor(instance_type=None, gpu=64)) == []


def test_cpu_models_fit_cpu_nodes() -> None:
    assert problems({"name": "cpu", "limits": {"cpu": "4"}, "params": {"INSTANCE-TYPE": "m7i.2xlarge"}}) == []


def test_pods_of_a_group_that_are_alike_are_reported_once() -> None:
    template = {"spec": {"containers": [runner()]}}
    group = {"size": 2, "leaderTemplate": template, "workerTemplate": template}
    fleet = fleet_of(open_model(flavors=[flavor(gpu=2)]), service(workloadTemplate=group))
    (problem,) = fit(fleet)
    assert problem.path == "spec.modelClaims.models"
