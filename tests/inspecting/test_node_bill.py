"""What nodes cost and who uses them: ten clusters, computed by hand to the cent."""

from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from components.fleet.objects import Object
from tests.inspecting.objects import an_object, container, deployment, live, node
from workbench.inspecting.inspection import inspect
from workbench.inspecting.snapshot import ClusterSnapshot

SPOT = {"eks.amazonaws.com/capacityType": "SPOT"}


class Cluster(NamedTuple):
    """Nodes and pods, and US dollars a month: of models by name, of other pods, and idle."""

    objects: list[Object]
    models: dict[str, str]
    others: str
    idle: str


def sized(name: str, kind: str, gpus: int = 0, cpu: str = "64", memory: str = "256Gi", **more: Any) -> Object:
    made = node(name, kind, gpus=gpus, **more)
    made["status"]["allocatable"] |= {"cpu": cpu, "memory": memory}
    return made


def server(name: str, on: str, gpus: int = 0, cpu: str = "1", phase: str = "Running", **more: Any) -> Object:
    devices = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    resources = {"requests": {"cpu": cpu, **devices}, "limits": devices}
    return live(
        an_object("v1", "Pod", name, nodeName=on, containers=[container(resources=resources, **more)]), phase=phase
    )


def other(name: str, on: str, cpu: str) -> Object:
    return server(name, on, cpu=cpu, image="nginx:1.29", args=[])


# Prices per hour (components/clouds/aws/prices): g5.2xlarge 1.212 (1.5156 in Frankfurt), g5.12xlarge 5.672,
# p5.48xlarge 55.04; 730 hours a month: 884.76 (1106.39), 4140.56 and 40179.20.
CLUSTERS = {
    "one model": Cluster([sized("n", "g5.2xlarge", 1), server("a", "n", 1)], {"a": "884.76"}, "0", "0"),
    "a quarter and a half of four GPUs": Cluster(
        [sized("n", "g5.12xlarge", 4), server("a", "n", 1), server("b", "n", 2)],
        {"a": "1035.14", "b": "2070.28"},
        "0",
        "1035.14",
    ),
    # 1 of 190 CPUs is the largest part of the node that is requested.
    "a CPU of eight GPUs": Cluster(
        [sized("n", "p5.48xlarge", 8, cpu="190"), server("a", "n")], {"a": "211.47"}, "0", "39967.73"
    ),
    # GPUs are scarcest: what requests none has no share of them.
    "beside a model with GPUs": Cluster(
        [sized("n", "p5.48xlarge", 8, cpu="190"), server("a", "n", 4, cpu="10"), other("web", "n", "1")],
        {"a": "20089.60"},
        "0",
        "20089.60",
    ),
    "two nodes of two types": Cluster(
        [sized("m", "g5.2xlarge", 1), sized("n", "g5.12xlarge", 4), server("a", "m", 1), server("b", "n", 1)],
        {"a": "884.76", "b": "1035.14"},
        "0",
        "3105.42",
    ),
    "a pod that is over": Cluster(
        [sized("n", "g5.2xlarge", 1), server("a", "n", 1, phase="Succeeded")], {}, "0", "884.76"
    ),
    "other pods": Cluster([sized("n", "g5.2xlarge", 1, cpu="8"), other("web", "n", "4")], {}, "442.38", "442.38"),
    "another region": Cluster(
        [sized("n", "g5.2xlarge", 1, region="eu-central-1"), server("a", "n", 1)], {"a": "1106.39"}, "0", "0"
    ),
    # A third of 4140.56 each, whose cents add up.
    "three thirds": Cluster(
        [sized("n", "g5.12xlarge", 4, cpu="30"), *(server(name, "n", cpu="10") for name in "abc")],
        {"a": "1380.19", "b": "1380.18", "c": "1380.19"},
        "0",
        "0",
    ),
    # CPUs are scarcer than GPUs.
    "more CPUs than GPUs": Cluster(
        [sized("n", "g5.12xlarge", 4, cpu="40"), server("a", "n", 1, cpu="10"), other("web", "n", "20")],
        {"a": "1035.14"},
        "2070.28",
        "1035.14",
    ),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_shares_and_idle_parts_add_up_to_the_nodes(name: str) -> None:
    cluster = CLUSTERS[name]
    result = inspect(ClusterSnapshot(tuple(cluster.objects), source="cluster"))
    shown = {model.identity[3]: model.price.usd_per_month for model in result.models}
    assert {model: str(usd) for model, usd in shown.items() if usd} == cluster.models
    bill = result.bill
    assert (bill.in_others, bill.idle) == (Decimal(cluster.others), Decimal(cluster.idle))
    assert sum((usd for usd in shown.values() if usd), Decimal(0)) + bill.in_others + bill.idle == bill.total


def test_spot_and_on_demand_nodes_of_one_model_have_their_own_prices() -> None:
    nodes = [sized("m", "g5.2xlarge", 1), sized("n", "g5.2xlarge", 1, labels=SPOT)]
    owner = live(an_object("apps/v1", "DaemonSet", "a"))
    pods = [server(name, name, 1) for name in "mn"]
    for each in pods:
        reference = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "a", "uid": owner["metadata"]["uid"]}
        each["metadata"]["ownerReferences"] = [reference]
    (found,) = inspect(ClusterSnapshot((*nodes, *pods), source="cluster")).models
    assert found.price.bought == "on-demand, spot"
    assert found.price.usd_per_month is not None
    assert Decimal("884.76") < found.price.usd_per_month < Decimal("1769.52")
    assert found.findings == ()


def test_pods_that_do_not_run_are_not_in_the_cost() -> None:
    body = live(deployment("a", replicas=2))
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": body["metadata"]["uid"]}
    running = server("a-1", "n", 1)
    running["metadata"]["ownerReferences"] = [owner]
    (found,) = inspect(ClusterSnapshot((sized("n", "g5.2xlarge", 1), body, running), source="cluster")).models
    assert found.price.usd_per_hour == Decimal("1.212")
    assert "cost (1 of 2 pods does not run)" in found.unchecked


def test_a_model_without_any_share_has_no_price_of_zero() -> None:
    nodes, pods = sized("n", "g5.2xlarge", 1), [server("a", "n", 1), server("b", "n")]
    result = inspect(ClusterSnapshot((nodes, *pods), source="cluster"))
    prices = {model.identity[3]: model.price for model in result.models}
    assert prices["b"].usd_per_month is None
    assert "scarcest" in prices["b"].unpriced
    assert all(price.source for price in prices.values() if price.usd_per_hour)


def test_pods_that_do_not_run_are_not_in_several_regions() -> None:
    nodes = [sized("m", "g5.2xlarge", 1), sized("n", "g5.2xlarge", 1, region="eu-central-1")]
    waiting = live(an_object("v1", "Pod", "a", containers=[container()]), phase="Pending")
    (found,) = inspect(ClusterSnapshot((*nodes, waiting), source="cluster")).models
    assert found.price.unpriced.startswith("its pods do not run")


GKE, PRODUCT, MEMORY = "cloud.google.com/gke-accelerator", "nvidia.com/gpu.product", "nvidia.com/gpu.memory"


@pytest.mark.parametrize(
    ("kind", "labels", "memory"),
    [
        ("g2-standard-8", {GKE: "nvidia-l4"}, "of 19.8 GiB on g2-standard-8"),
        ("g2-standard-8", {PRODUCT: "NVIDIA-L4", MEMORY: "23034"}, "of 19.8 GiB on g2-standard-8"),
        (
            "Standard_NC24ads_A100_v4",
            {"kubernetes.azure.com/accelerator": "nvidia"},
            "of 71.2 GiB on Standard_NC24ads",
        ),
        # A part of a GPU has its own memory: 10 of 80 GB.
        ("Standard_ND96isr_H100_v5", {MEMORY: "10240"}, "is missing"),
        ("Standard_NV36ads_A10_v5", {"kubernetes.azure.com/accelerator": "nvidia"}, ""),
        ("a-type-of-its-own", {}, ""),
    ],
)
def test_types_of_other_clouds_are_no_error_and_their_gpus_known_by_labels(
    kind: str, labels: dict[str, str], memory: str
) -> None:
    result = inspect(ClusterSnapshot((sized("n", kind, 1, labels=labels), server("a", "n", 1)), source="cluster"))
    (found,) = result.models
    rules = {problem.rule for problem in result.all_findings if problem.is_error}
    assert rules == ({"memory-exceeded"} if memory == "is missing" else set())
    assert found.price.usd_per_hour is None
    assert found.fit == ("not checked" if not memory else "exceeded" if rules else "fits")
    assert rules or memory in found.memory
    # No advice to use types of another cloud.
    assert not any("g6e" in problem.reason for problem in result.all_findings)
