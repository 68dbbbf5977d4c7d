"""Pods that end before their requests do."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.checks.front_door.door import Door
from components.checks.front_door.words import Exposure
from components.clouds.aws.environment import AwsEnvironment
from components.contract.findings.annotations import PREFIX
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.engines.draining import aborting_seconds, drain_bound
from components.families import load, objects
from components.fleet.ending import finishing_seconds, grace_seconds
from components.fleet.options import Options
from components.fleet.words import Realization
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from tests.checks.front_door.doors import PUBLIC
from tests.families.kthena.serving.support import model_serving, pods, role
from tests.families.leaderworkerset.sets import group
from tests.families.llmkube.support import isvc, model
from tests.fleets import SAMPLES, open_model, playground, runner, runtime, service

Object = dict[str, Any]
RULES = (RuleId.DRAIN_MISSING, RuleId.DRAIN_SHORT, RuleId.DRAIN_HOOK)
ROOT = Path(__file__).parents[3]
VLLM = "vllm/vllm-openai:v0.20.0"
EARLIER = "vllm/vllm-openai:v0.11.0"


def planned(*documents: Object, request_timeout: str = "", **environment: Any) -> Plan:
    """Return a plan, exposed with a longest request if there is one."""
    door = replace(PUBLIC, request_timeout=request_timeout) if request_timeout else Door()
    options = Options(longest_request=door.longest_request)
    return plan(objects(documents), Environment(options=options, door=door, **environment))


def found(*documents: Object, **environment: Any) -> list[Problem]:
    return [problem for problem in planned(*documents, **environment).problems if problem.rule in RULES]


def written(kind: str, *, grace: int | None = None, **container: Any) -> tuple[Object, ...]:
    """Return a resource whose pods are written by hand."""
    pod: Object = {"containers": [runner(**{"image": VLLM, **container})]}
    if grace is not None:
        pod["terminationGracePeriodSeconds"] = grace
    template = {"workerTemplate": {"spec": pod}}
    if kind == "Service":
        return open_model(), service(workloadTemplate=template)
    if kind == "LeaderWorkerSet":
        return (group("g", None, **template),)
    containers = pod.pop("containers")
    return (model_serving("ms", role(entryTemplate=pods(*containers, **pod))),)


KINDS = ("Service", "LeaderWorkerSet", "ModelServing")


@pytest.mark.parametrize("kind", KINDS)
class TestByHand:
    def test_an_engine_that_aborts_is_found(self, kind: str) -> None:
        (problem,) = found(*written(kind))
        assert (problem.rule, problem.severity) == (RuleId.DRAIN_MISSING, Severity.WARNING)
        assert problem.path.endswith("containers[0]")
        assert "add --shutdown-timeout=105 to its arguments" in problem.reason
        assert "lifecycle: {preStop: {exec: {command: [sleep, '10']}}}" in problem.reason
        assert problem.reason.endswith("terminationGracePeriodSeconds: 130 to the pod")

    def test_what_it_says_is_enough(self, kind: str) -> None:
        hook = {"preStop": {"exec": {"command": ["sleep", "10"]}}}
        assert not found(*written(kind, grace=130, args=["--shutdown-timeout=105"], lifecycle=hook))

    def test_a_version_without_the_flag_gets_the_hook(self, kind: str) -> None:
        (problem,) = found(*written(kind, image=EARLIER))
        assert "add the preStop hook of vllm in docs/draining.md" in problem.reason
        assert "--shutdown-timeout" not in problem.reason

    def test_any_script_may_wait(self, kind: str) -> None:
        hook = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "./drain.sh"]}}}
        assert not found(*written(kind, lifecycle=hook))

    @pytest.mark.parametrize("image", ["lmsysorg/sglang:v0.5.4", "example.com/engine:v1"])
    def test_engines_that_finish_or_are_unknown_are_not(self, kind: str, image: str) -> None:
        assert not found(*written(kind, image=image))

    def test_a_grace_below_the_longest_request_is_found(self, kind: str) -> None:
        hook = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "./drain.sh"]}}}
        (problem,) = found(*written(kind, grace=300, lifecycle=hook), request_timeout="30m")
        assert problem.rule == RuleId.DRAIN_SHORT
        assert "a request may take 1800 seconds" in problem.reason
        assert "cut off 285 seconds after the deletion of its pod" in problem.reason
        assert "set that to at least 1825" in problem.reason
        assert not found(*written(kind, grace=1825, lifecycle=hook), request_timeout="30m")

    def test_it_can_be_ignored(self, kind: str) -> None:
        *before, resource = written(kind)
        ignored = {f"{PREFIX}drain-missing": "its requests take milliseconds"}
        resource["metadata"]["annotations"] = ignored
        assert not found(*before, resource)


def test_pods_that_are_rendered_have_a_hook_for_the_longest_request() -> None:
    result = planned(open_model(), playground(), request_timeout="30m")
    assert not [problem for problem in result.problems if problem.rule in RULES]
    ((_, workload),) = result.fleet.workloads
    assert workload.front["spec"]["terminationGracePeriodSeconds"] == 1825
    assert "at most 1810 seconds" in workload.container["lifecycle"]["preStop"]["exec"]["command"][2]


def test_without_an_endpoint_outside_the_cluster_nothing_limits_requests() -> None:
    ((_, workload),) = planned(open_model(), playground()).fleet.workloads
    assert workload.front["spec"]["terminationGracePeriodSeconds"] == 130


METRICS = "curl -s localhost:8000/metrics"
GREP = f"until [ \"$({METRICS} | grep '^vllm:num_requests_waiting' | awk '{{print $2}}')\" = 0 ]; do :; done"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("image", "expected"), [(VLLM, [RuleId.DRAIN_HOOK]), (EARLIER, [])])
def test_a_hook_that_reads_two_metrics(kind: str, image: str, expected: list[RuleId]) -> None:
    hook = {"preStop": {"exec": {"command": ["/bin/sh", "-c", GREP]}}}
    assert [each.rule for each in found(*written(kind, image=image, lifecycle=hook))] == expected


@pytest.mark.parametrize(
    "hook", [{"exec": {"command": ["sleep", "5"]}}, {"httpGet": {"port": 8080, "path": "/stop"}}]
)
def test_the_own_hook_of_a_backend_runtime(hook: Object) -> None:
    own = runtime("own", image="vllm/vllm-openai", version="v0.20.0", lifecycle={"preStop": hook})
    used = playground(backendRuntimeConfig={"backendName": "own"})
    (problem,) = found(open_model(), used, own)
    assert problem.rule == RuleId.DRAIN_MISSING
    assert problem.reason.endswith("remove the preStop hook of its runtime: without it, one is rendered that waits")
    own["spec"]["lifecycle"] = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "./drain.sh"]}}}
    assert not found(open_model(), used, own)
    del own["spec"]["lifecycle"]
    assert not found(open_model(), used, own)


@pytest.mark.parametrize(("realization", "missing"), [(Realization.NATIVE, False), (Realization.OPERATOR, True)])
def test_pods_of_an_operator_without_hooks(realization: Realization, *, missing: bool) -> None:
    options = Options(realization=realization)
    result = plan(objects([model(), isvc()]), Environment(options=options))
    problems = [each for each in result.problems if each.rule in RULES]
    assert [each.rule for each in problems] == [RuleId.DRAIN_MISSING] * missing
    ((_, workload),) = result.fleet.workloads
    assert finishing_seconds(workload) == (0 if missing else drain_bound(grace_seconds(workload)))


SERVED = [
    *sorted((ROOT / "stacks").glob("models/*.yaml")),
    *sorted((ROOT / "examples").rglob("*.yaml")),
    *sorted(SAMPLES.glob("*.yaml")),
]


@pytest.mark.parametrize("realization", Realization)
def test_every_serving_pod_waits_or_has_a_finding(realization: Realization) -> None:
    """Each file of the samples, the stacks and the examples is planned alone."""
    pods, silent = 0, list[str]()
    for path in SERVED:
        manifests = load([path])
        if not manifests.resources:
            continue
        result = plan(manifests, Environment(options=Options(realization=realization)))
        reported = {
            (each.kind, each.name)
            for each in (*result.problems, *(e.problem for e in result.ignored))
            if each.rule in RULES
        }
        for item, workload in result.fleet.workloads:
            pods += 1
            aborted = aborting_seconds(workload.container, workload.server.line)
            if aborted is not None and (item.source.kind.kind, item.source.name) not in reported:
                silent.append(f"{path.relative_to(ROOT)}: {item.title}")
    assert pods > 20
    assert silent == []


class TestNodes:
    AWS = AwsEnvironment(region="us-east-1", existing=True)

    @staticmethod
    def of(result: Plan) -> list[Problem]:
        return [problem for problem in result.problems if problem.path == "frontDoor.requestTimeout"]

    def test_the_shortest_limit_is_named(self) -> None:
        door = Door(expose=Exposure.LOAD_BALANCER, request_timeout="2h", client_cidrs=("10.0.0.0/8",))
        result = plan(objects([open_model(), playground()]), Environment(door=door, cloud=self.AWS))
        (problem,) = [problem for problem in self.of(result) if problem.rule == RuleId.DRAIN_SHORT]
        assert "EKS gives the pods of a node 15m" in problem.reason
        assert problem.reason.endswith("set it to 15m or less")

    def test_behind_a_gateway_its_proxies_have_a_finding_of_their_own(self) -> None:
        for timeout in ("20m", "90m"):
            result = planned(open_model(), playground(), request_timeout=timeout, cloud=self.AWS)
            (problem,) = self.of(result)
            assert problem.rule == RuleId.ACCESS_ROLLOUT
            assert "EKS gives the pods of a node 15m" in problem.reason

    def test_proxies_with_a_drain_timeout_leave_the_limit_of_the_models_pods(self) -> None:
        door = replace(PUBLIC, request_timeout="90m", rollout=PUBLIC.rollout._replace(drain_timeout="5m"))
        result = plan(objects([open_model(), playground()]), Environment(door=door, cloud=self.AWS))
        (problem,) = [problem for problem in self.of(result) if problem.rule == RuleId.DRAIN_SHORT]
        assert problem.reason.endswith("set it to 15m or less")

    @pytest.mark.parametrize(("timeout", "noted"), [("10m", True), ("2m", False)])
    def test_spot_instances_are_noted(self, timeout: str, *, noted: bool) -> None:
        flavor = {
            "name": "spot",
            "limits": {"nvidia.com/gpu": 1},
            "params": {"INSTANCE-TYPE": "g6e.2xlarge"},
            "nodeSelector": {"eks.amazonaws.com/capacityType": "SPOT"},
        }
        result = planned(open_model(flavors=[flavor]), playground(), request_timeout=timeout, cloud=self.AWS)
        notes = [problem for problem in self.of(result) if problem.severity == Severity.NOTE]
        assert len(notes) == noted
        for note in notes:
            assert note.rule == RuleId.DRAIN_SHORT
            assert "ends 2m after its notice" in note.reason
            assert "Playground" in note.reason
