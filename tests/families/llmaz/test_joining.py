"""Groups are given the time that their slowest pod needs, and lose no weights until then."""

from math import ceil
from typing import Any

import pytest

from components.engines.settings import Setting
from components.fleet.instances import instance
from components.fleet.words import WorkloadChoice
from tests.families.llmaz.services import MODEL, lws, two
from tests.fleets import fleet_of, open_model, playground, runtime, service


def model(*instances: str, gpus: int = 8, **params: str) -> dict[str, Any]:
    typed = [{**({"INSTANCE-TYPE": name} if name else {}), **params} for name in instances]
    limits = {"nvidia.com/gpu": gpus}
    flavors = [{"name": f"f{i}", "limits": limits, "params": given} for i, given in enumerate(typed)]
    return open_model(flavors=flavors)


def leader(*documents: dict[str, Any], **options: Any) -> dict[str, Any]:
    template = lws(*documents, **options)["leaderWorkerTemplate"]["leaderTemplate"]
    return dict(template["spec"]["containers"][0])


def budget(container: dict[str, Any]) -> int:
    """Seconds until the startup probe gives up."""
    probe = container["startupProbe"]
    return int(probe["failureThreshold"]) * int(probe.get("periodSeconds", 10))


@pytest.mark.parametrize("backend", ["vllm", "sglang"])
@pytest.mark.parametrize(("name", "rate"), [("p4d.24xlarge", 250), ("g6e.48xlarge", 250), ("p3.16xlarge", 125)])
def test_the_startup_probe_allows_for_weights_that_fill_the_accelerators(backend: str, name: str, rate: int) -> None:
    """Every pod writes all of the weights at the rate of its disk, and reads its own part of them."""
    node = instance(name)
    assert node is not None
    assert node.accelerator_memory_gib is not None
    part = node.accelerator_memory_gib * 1024 * 8
    config = {"backendName": backend, **({"version": "v0.5.4"} if backend == "sglang" else {})}
    got = budget(leader(model(name, TP="8", PP="2"), playground(backendRuntimeConfig=config)))
    assert got >= 3600 + ceil(3 * part / rate)
    assert got < 3600 + ceil(3 * part / rate) + 10


def test_the_slowest_flavor_counts() -> None:
    both = budget(leader(model("p4d.24xlarge", "p4de.24xlarge", TP="8", PP="2"), playground()))
    assert both == budget(leader(model("p4de.24xlarge", TP="8", PP="2"), playground()))
    assert both > budget(leader(model("p4d.24xlarge", TP="8", PP="2"), playground()))


def test_unknown_nodes_have_an_hour() -> None:
    assert budget(leader(model("", TP="8", PP="2"), playground())) == 3600


@pytest.mark.parametrize(
    ("probe", "seconds"),
    [
        ({"httpGet": {"path": "/h", "port": 8080}, "periodSeconds": 30, "failureThreshold": 1000}, 30000),
        ({"httpGet": {"path": "/h", "port": 8080}, "periodSeconds": 7}, 3605),
        ({"httpGet": {"path": "/h", "port": 8080}}, 3600),
    ],
)
def test_ones_own_probe_is_never_shortened(probe: dict[str, Any], seconds: int) -> None:
    own = runtime("vllm", image="vllm/vllm-openai", version="v0.7.3", startupProbe=probe)
    assert budget(leader(model("", TP="8", PP="2"), own, playground())) == seconds


def test_without_a_probe_there_is_none() -> None:
    own = runtime("vllm", image="vllm/vllm-openai", version="v0.7.3")
    assert "startupProbe" not in leader(model("", TP="8", PP="2"), own, playground())


def test_a_group_that_has_never_run_is_not_made_again() -> None:
    """RecreateGroupAfterStart (kubernetes-sigs/lws v0.9): pods that still load are Pending, and the group is kept."""
    group = lws(model("p4d.24xlarge", TP="8", PP="2"), playground())["leaderWorkerTemplate"]
    assert group["restartPolicy"] == "RecreateGroupAfterStart"


def test_single_pods_and_groups_by_hand_keep_what_they_say() -> None:
    single = lws(model("p4d.24xlarge", TP="8"), playground(), workload=WorkloadChoice.LWS)["leaderWorkerTemplate"]
    assert "restartPolicy" not in single
    assert budget(single["workerTemplate"]["spec"]["containers"][0]) == 300
    assert "restartPolicy" not in lws(MODEL, service(workloadTemplate=two()))["leaderWorkerTemplate"]


def test_what_the_leader_runs_is_still_read() -> None:
    """Its command stands behind a script; who asks for a port or a setting finds it there."""
    documents = (
        model("p4d.24xlarge", TP="8", PP="2"),
        playground(backendRuntimeConfig={"args": ["--port", "9000", "--max-model-len=4096"]}),
    )
    (workload,) = fleet_of(*documents).rendered[0].workloads
    assert workload.server.line.is_script
    assert workload.port == workload.server.line.number_of(Setting.PORT) == 9000
    assert workload.server.line.number_of(Setting.CONTEXT) == 4096
    assert leader(*documents)["readinessProbe"]["httpGet"]["port"] == 9000
