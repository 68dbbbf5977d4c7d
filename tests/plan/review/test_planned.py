"""What a plan says, as the data of a snapshot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.families import parse
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from components.plan.review.compare import review
from components.plan.review.planned import findings_of, groups_of, models_of, workloads_of
from components.plan.review.snapshot import Snapshot
from tests.plan.review.revisions import deployment, revision, workload

MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen}
spec:
  familyName: qwen2
  source: {modelHub: {modelID: Qwen/Qwen2.5-7B-Instruct}}
  inferenceConfig:
    flavors: [{name: l4, limits: {nvidia.com/gpu: 4}, params: {INSTANCE-TYPE: g6.12xlarge, TP: "4"}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: ml}
spec:
  replicas: 2
  modelClaim: {modelName: qwen}
"""


@pytest.fixture(scope="module")
def planned() -> Plan:
    return plan(parse(MODEL), Environment(simulated=True))


def test_workloads(planned: Plan) -> None:
    (found,) = workloads_of(planned)
    assert (found.title, found.served, found.namespace) == ("Deployment ml/chat", "Playground/chat", "ml")
    assert (found.replicas, found.pods, found.accelerators) == ((2, 2, 2), 1, 4)
    assert found.group == "g6-12xlarge"
    assert found.body["spec"]["replicas"] == 2


def test_models(planned: Plan) -> None:
    (found,) = models_of(planned, workloads_of(planned))
    assert (found.title, found.namespace, found.model) == ("Playground/chat", "ml", "qwen")
    assert (found.replicas, found.accelerators, found.groups) == ((2, 2, 2), (8, 8, 8), ("g6-12xlarge",))
    assert found.workloads == tuple(found.verdicts) == ("Deployment ml/chat",)


def test_node_groups(planned: Plan) -> None:
    (found,) = groups_of(planned)
    assert (found.name, found.instance_type, found.nodes, found.accelerators) == ("g6-12xlarge", "g6.12xlarge", 2, 4)
    assert found.made_by == "simulated"


def test_findings_are_there_where_the_plan_is_refused() -> None:
    refused = plan(parse(MODEL.replace("gpu: 4", "gpu: 8").replace('"4"', '"8"')))
    found = findings_of(refused.problems)
    assert found
    assert {finding.severity for finding in found} == {"error"}
    assert Snapshot("dev", findings=found).is_refused
    assert workloads_of(refused)


WORKLOADS = st.lists(st.sampled_from("abcde"), unique=True).flatmap(
    lambda names: st.tuples(*(st.tuples(st.just(name), st.integers(0, 3)) for name in names))
)


@given(WORKLOADS)
def test_a_revision_changes_nothing_against_itself(drawn: tuple[tuple[str, int], ...]) -> None:
    snapshot = revision(*(workload(deployment(name), (number, number, number + 1)) for name, number in drawn))
    found = review(snapshot, snapshot)
    assert found.changes_nothing
    assert (found.changes, found.blasts, found.endpoints, found.new, found.fixed) == ((), (), (), (), ())
