"""Pods that belong together under labels of their own are scraped, guarded and drained as one."""

from dataclasses import replace

import pytest

from components.checks.hardening.network_policies import Allowed, network_policies
from components.checks.hardening.settings import Hardening
from components.checks.hardening.workloads import harden
from components.checks.metrics.alerts import alerts
from components.checks.metrics.chain import metric_chain
from components.fleet.combining import check_group_names, without_clashes
from components.fleet.rendered import Fleet
from components.fleet.workloads import PodSet
from tests.fleet.sets import FRONT, GROUP, SET, bare, parts
from tests.fleets import GPU, fleet_of, open_model, playground

BUDGETS = Hardening(disruption_budgets=True)
BOTH = pytest.mark.parametrize("fleet", [parts(12), bare()], ids=["parts", "bare"])


def expressions(fleet: Fleet) -> dict[str, str]:
    return {rule["alert"]: rule["expr"] for rule in alerts(fleet)}


@BOTH
def test_one_monitor_scrapes_the_pods_of_a_set_that_take_requests(fleet: Fleet) -> None:
    (monitor,) = metric_chain(fleet).monitors
    assert monitor["metadata"]["name"] == "p-lead"
    assert monitor["spec"]["selector"] == {"matchLabels": FRONT}
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    labels = {row["targetLabel"]: row.get("replacement") for row in endpoint["relabelings"]}
    assert labels["workload"] == "p-lead"


@BOTH
def test_one_policy_guards_the_front_and_one_all_that_talk_to_one_another(fleet: Fleet) -> None:
    found = {body["metadata"]["name"]: body["spec"] for body in network_policies(fleet, Allowed(clients=()))}
    assert set(found) == {"p-lead", "p-lead.group"}
    assert found["p-lead"]["podSelector"] == {"matchLabels": FRONT}
    assert found["p-lead.group"]["podSelector"] == {"matchLabels": GROUP}
    assert found["p-lead.group"]["ingress"] == [{"from": [{"podSelector": {"matchLabels": GROUP}}]}]


def test_a_backend_may_name_a_single_workload_of_a_set() -> None:
    fleet = parts(3)
    (item,) = fleet.rendered
    (endpoint,) = item.endpoints
    named = replace(endpoint, backends=tuple(replace(b, workload="p-1-lead-0") for b in endpoint.backends))
    changed = replace(fleet, rendered=(replace(item, endpoints=(named,)),))
    assert [body["metadata"]["name"] for body in network_policies(changed, Allowed())] == ["p-lead", "p-lead.group"]


def test_pods_of_a_set_that_nothing_groups_have_no_policy_of_a_group() -> None:
    fleet = parts(2, PodSet("p-lead", FRONT))
    assert [body["metadata"]["name"] for body in network_policies(fleet, Allowed())] == ["p-lead"]


@pytest.mark.parametrize(("count", "made"), [(1, []), (2, ["p-lead"]), (12, ["p-lead"])])
def test_drains_take_one_replica_of_a_set_at_a_time(count: int, made: list[str]) -> None:
    (item,) = parts(count).rendered
    budgets = [b for b in harden(item, BUDGETS).objects if b["kind"] == "PodDisruptionBudget"]
    assert [body["metadata"]["name"] for body in budgets] == made
    assert all(body["spec"]["selector"] == {"matchLabels": FRONT} for body in budgets)


def test_an_operators_pods_have_no_budget() -> None:
    (item,) = bare().rendered
    assert all(body["kind"] != "PodDisruptionBudget" for body in harden(item, BUDGETS).objects)


def test_alerts_know_each_set_by_its_name_and_pods_by_what_their_names_begin_with() -> None:
    of_parts, of_bare = expressions(parts(2)), expressions(bare(SET._replace(prefix="p")))
    assert 'statefulset=~"p-0-lead-0|p-1-lead-0"' in of_parts["ModelNoReadyReplica"]
    assert 'pod=~"(p-0-lead-0|p-1-lead-0)-.*"' in of_parts["ModelPodPending"]
    assert 'pod=~"(p)-.*"' in of_bare["ModelPodPending"]


def test_bare_pods_are_no_set_that_a_controller_knows() -> None:
    (item,) = bare().rendered
    (workload,) = item.workloads
    assert workload.kind == "Pod"
    assert workload.size == 1
    (neighbour,) = fleet_of(open_model(flavors=[GPU]), playground("p-lead-0"), workload="lws").rendered
    assert list(check_group_names([item, neighbour])) == []
    problems, _ = without_clashes([item, neighbour])
    assert problems == []


def test_a_real_set_of_an_operator_is_known() -> None:
    (item,) = bare().rendered
    grouped = replace(item, workloads=tuple(replace(w, bare=False) for w in item.workloads))
    assert grouped.workloads[0].kind == "LeaderWorkerSet"
    (neighbour,) = fleet_of(open_model(flavors=[GPU]), playground("p-lead"), workload="lws").rendered
    problems, _ = without_clashes([grouped, neighbour])
    assert [p.path for p in problems] == ["metadata.name"]


@BOTH
def test_no_other_resource_has_a_workload_of_the_sets_name(fleet: Fleet) -> None:
    """Its PodMonitor and its policies would be those of the set."""
    (neighbour,) = fleet_of(open_model(flavors=[GPU]), playground("p-lead"), workload="deployment").rendered
    problems, unique = without_clashes([*fleet.rendered, neighbour])
    assert ["Workload 'p-lead' is also generated" in p.reason for p in problems] == [True]
    assert unique == fleet.rendered


def test_no_two_resources_have_an_endpoint_of_one_name() -> None:
    """A resource that only says where a model answers may be called like another one that serves."""
    (item,) = parts(1).rendered
    (other,) = fleet_of(open_model(flavors=[GPU]), playground("q")).rendered
    (usual,) = other.endpoints
    route = replace(other, name="p", workloads=(), endpoints=(replace(usual, name="p", body=None),))
    problems, unique = without_clashes([item, route])
    assert ["Endpoint 'p' is also generated" in p.reason for p in problems] == [True]
    assert unique == (item,)
