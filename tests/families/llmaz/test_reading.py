"""Manifests of earlier releases render like those of the contract's, and their problems are at their own fields."""

from typing import Any

import pytest

from components.contract.findings.ids import RuleId
from components.fleet.rendered import Fleet
from components.fleet.words import WorkloadChoice
from tests.families.llmaz.generated import CPU
from tests.families.llmaz.services import PODS, template, two
from tests.fleets import (
    Object,
    container,
    errors,
    fleet_of,
    objects,
    open_model,
    playground,
    runtime,
    service,
    warnings,
)

MODEL = open_model()
RESOURCES = {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
HPA: Object = {"hpa": {"metrics": [CPU]}}
OTHER: Object = {"hpa": {"metrics": [CPU], "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}}}}
ARGS = ["--model", "{{ .ModelPath }}"]
DRAFTED = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}


def of_v010(**spec: Any) -> Object:
    """A BackendRuntime of v0.1.0."""
    made = runtime()
    configs = [{"name": "default", "flags": ARGS}, {"name": "other", "flags": ["-o"]}]
    spec = {"image": "example.com/engine", "version": "v1", "args": configs, "resources": RESOURCES, **spec}
    return {**made, "spec": spec}


def of_contract(trigger: Object | None = None, **spec: Any) -> Object:
    """The same in the contract's form."""
    shared = {"resources": RESOURCES, **({"scaleTrigger": trigger} if trigger else {})}
    configs = [{"name": "default", "args": ARGS, **shared}, {"name": "other", "args": ["-o"], **shared}]
    return runtime(recommendedConfigs=configs, **spec)


def elastic(config: Object | None = None, **more: Any) -> Object:
    return playground(backendRuntimeConfig=config or {"backendName": "own"}, elasticConfig={"maxReplicas": 3, **more})


PAIRS: dict[str, tuple[list[Object], list[Object]]] = {
    "requests of a flavor": (
        [open_model(flavors=[{"name": "f", "requests": {"nvidia.com/gpu": 1}}]), playground()],
        [open_model(flavors=[{"name": "f", "limits": {"nvidia.com/gpu": 1}}]), playground()],
    ),
    "name of the backend": (
        [MODEL, playground(backendRuntimeConfig={"name": "llamacpp"})],
        [MODEL, playground(backendRuntimeConfig={"backendName": "llamacpp"})],
    ),
    "arguments in a map": (
        [MODEL, playground(backendRuntimeConfig={"args": {"flags": ["--seed", "7"]}})],
        [MODEL, playground(backendRuntimeConfig={"configName": "default", "args": ["--seed", "7"]})],
    ),
    "a map without arguments": (
        [MODEL, open_model("d"), playground(modelClaims=DRAFTED, backendRuntimeConfig={"args": {}})],
        [MODEL, open_model("d"), playground(modelClaims=DRAFTED, backendRuntimeConfig={"configName": "default"})],
    ),
    "a runtime of v0.1.0": (
        [MODEL, of_v010(commands=["run"]), playground(backendRuntimeConfig={"name": "own"})],
        [MODEL, of_contract(command=["run"]), playground(backendRuntimeConfig={"backendName": "own"})],
    ),
    "other arguments of it": (
        [MODEL, of_v010(), playground(backendRuntimeConfig={"name": "own", "args": {"name": "other"}})],
        [MODEL, of_contract(), playground(backendRuntimeConfig={"backendName": "own", "configName": "other"})],
    ),
    "its first trigger": (
        [MODEL, of_v010(scaleTriggers=[{"name": "a", **HPA}, {"name": "b", **OTHER}]), elastic()],
        [MODEL, of_contract(HPA), elastic()],
    ),
    "a trigger by reference": (
        [
            MODEL,
            of_v010(scaleTriggers=[{"name": "a", **HPA}, {"name": "b", **OTHER}]),
            elastic(scaleTriggerRef={"name": "b"}),
        ],
        [MODEL, of_contract(), elastic(scaleTrigger=OTHER)],
    ),
    "the trigger of a Playground": (
        [MODEL, of_v010(scaleTriggers=[{"name": "a", **HPA}]), elastic(scaleTrigger=OTHER)],
        [MODEL, of_contract(), elastic(scaleTrigger=OTHER)],
    ),
    "a trigger beside the backend": (
        [MODEL, of_contract(HPA), elastic({"backendName": "own", "scaleTrigger": OTHER})],
        [MODEL, of_contract(HPA), elastic(scaleTrigger=OTHER)],
    ),
    "a whole set": (
        [
            MODEL,
            service(
                workloadTemplate={
                    "replicas": 2,
                    "startupPolicy": "LeaderCreated",
                    "rolloutStrategy": {"rollingUpdateConfiguration": {"maxUnavailable": 2}},
                    "leaderWorkerTemplate": {**two(), "restartPolicy": "None"},
                }
            ),
        ],
        [
            MODEL,
            service(
                replicas=2,
                rolloutStrategy={"rollingUpdateConfiguration": {"maxUnavailable": 2}},
                workloadTemplate={**two(), "restartPolicy": "None"},
            ),
        ],
    ),
    "a whole set of one pod": (
        [MODEL, service(workloadTemplate={"leaderWorkerTemplate": {"workerTemplate": template()}})],
        [MODEL, service(workloadTemplate={"workerTemplate": template()})],
    ),
}


def rendered(fleet: Fleet) -> list[Object]:
    assert not errors(fleet), list(map(str, errors(fleet)))
    return [body for item in fleet.rendered for body in item.objects]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("workload", list(WorkloadChoice)[:2])
def test_both_forms_render_alike(name: str, workload: WorkloadChoice) -> None:
    old, new = PAIRS[name]
    assert rendered(fleet_of(*old, workload=workload)) == rendered(fleet_of(*new, workload=workload))


def test_the_subdomain_policy_of_a_whole_set_reaches_it() -> None:
    group = {"leaderWorkerTemplate": two(), "networkConfig": {"subdomainPolicy": "UniquePerReplica"}}
    made = objects(MODEL, service(workloadTemplate=group))["LeaderWorkerSet"]["spec"]
    assert made["networkConfig"] == {"subdomainPolicy": "UniquePerReplica"}


# -- groups of v0.1.0 and v0.1.1

LEADER = ["sh", "-c", "wait $(LWS_GROUP_SIZE)\nserve\n"]
WORKER = ["sh", "-c", "join $(LWS_LEADER_ADDRESS)"]
SPREAD = {"name": "f", "limits": {"nvidia.com/gpu": 2}, "params": {"TP": "2", "PP": "3"}}


def group(*missing: str, **spec: Any) -> list[Object]:
    configs = [
        {"name": "default", "args": ["-d"]},
        {"name": "model-parallelism", "args": ["--tp", "{{ .TP }}", "--pp", "{{ .PP }}", "two words"]},
    ]
    commands = {part: words for part, words in (("leader", LEADER), ("worker", WORKER)) if part not in missing}
    own = runtime(recommendedConfigs=configs, multiHostCommands=commands, **spec)
    return [
        open_model(flavors=[SPREAD]),
        own,
        playground(backendRuntimeConfig={"backendName": "own", "args": ["-x"]}),
    ]


def test_a_group_is_started_by_the_commands_of_its_runtime() -> None:
    made = objects(*group())["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]
    (leader,) = made["leaderTemplate"]["spec"]["containers"]
    (worker,) = made["workerTemplate"]["spec"]["containers"]
    assert made["size"] == 3
    script = "wait $(LWS_GROUP_SIZE)\nserve --tp 2 --pp 3 'two words' -x"
    assert (leader["command"], leader.get("args")) == (["sh", "-c", script], None)
    assert (worker["command"], worker.get("args"), worker.get("ports")) == (WORKER, None, None)


def test_a_named_configuration_of_a_group_is_kept() -> None:
    documents = group()
    documents[2]["spec"]["backendRuntimeConfig"]["configName"] = "default"
    made = objects(*documents)["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]
    assert made["leaderTemplate"]["spec"]["containers"][0]["command"][2].endswith("serve -d -x")


def test_a_configuration_of_that_name_has_no_meaning_without_commands_for_groups() -> None:
    documents = group()
    del documents[1]["spec"]["multiHostCommands"]
    documents[0] = open_model(flavors=[{"name": "f", "limits": {"nvidia.com/gpu": 1}, "params": {"PP": "1"}}])
    assert container(*documents)["args"][0] == "-d"


def test_a_group_needs_both_commands() -> None:
    (problem,) = errors(fleet_of(*group("worker")))
    assert "multiHostCommands of BackendRuntime 'own' has no command for the worker; add it" in problem.reason


@pytest.mark.parametrize("hook", [{"stopSignal": "SIGINT"}, {"preStop": {"sleep": {"seconds": 5}}}])
def test_pods_with_a_stop_signal_name_the_system_that_it_is_of(hook: Object) -> None:
    documents = MODEL, runtime(lifecycle=hook), playground(backendRuntimeConfig={"backendName": "own"})
    pod = objects(*documents)["Deployment"]["spec"]["template"]["spec"]
    assert hook.items() <= pod["containers"][0]["lifecycle"].items()
    assert pod.get("os") == ({"name": "linux"} if "stopSignal" in hook else None)


# -- problems are reported where the manifest has the field

WRONG: dict[str, tuple[list[Object], str, RuleId]] = {
    "backend": (
        [MODEL, playground(backendRuntimeConfig={"name": "no"})],
        "spec.backendRuntimeConfig.name",
        RuleId.REFERENCE_MISSING,
    ),
    "configuration": (
        [MODEL, playground(backendRuntimeConfig={"args": {"name": "no"}})],
        "spec.backendRuntimeConfig.args.name",
        RuleId.REFERENCE_MISSING,
    ),
    "argument": (
        [MODEL, playground(backendRuntimeConfig={"args": {"flags": ["--seed", "7", "--max-model-len", "x"]}})],
        "spec.backendRuntimeConfig.args.flags",
        RuleId.FLAGS_MALFORMED,
    ),
    "trigger": (
        [MODEL, of_v010(scaleTriggers=[{"name": "a", **HPA}]), elastic(scaleTriggerRef={"name": "b"})],
        "spec.elasticConfig.scaleTriggerRef.name",
        RuleId.REFERENCE_MISSING,
    ),
    "template": (
        [MODEL, service(workloadTemplate={"leaderWorkerTemplate": {"workerTemplate": {"spec": {"containers": [
            {"name": "model-runner"}]}}}})],
        "spec.workloadTemplate.leaderWorkerTemplate.workerTemplate.spec.containers[0].image",
        RuleId.IMAGE_MISSING,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_problems_are_at_the_fields_of_the_manifest(name: str) -> None:
    documents, path, rule = WRONG[name]
    found = [problem for problem in errors(fleet_of(*documents)) if problem.rule is rule]
    assert [problem.path.startswith(path) for problem in found] == [True]
    assert all(problem.line > 1 for problem in found)


def test_a_metric_of_a_referred_trigger_is_reported_at_the_reference() -> None:
    triggers = [{"name": "a", "hpa": {"metrics": [PODS]}}]
    fleet = fleet_of(MODEL, of_v010(scaleTriggers=triggers), elastic(scaleTriggerRef={"name": "a"}))
    (scaler,) = (scaler for _, scaler in fleet.autoscalers)
    assert scaler.origin_of("metrics[0].pods").problem("wrong").path == "spec.elasticConfig.scaleTriggerRef.name"


def test_a_trigger_without_bounds_has_no_effect() -> None:
    found = warnings(fleet_of(MODEL, playground(backendRuntimeConfig={"scaleTrigger": HPA})))
    assert [problem.path for problem in found] == ["spec.backendRuntimeConfig.scaleTrigger"]


@pytest.mark.parametrize(
    ("policy", "size", "told"), [("LeaderReady", 2, 1), ("LeaderReady", 1, 0), ("LeaderCreated", 2, 0)]
)
def test_a_startup_policy_that_would_wait_forever_has_no_effect(policy: str, size: int, told: int) -> None:
    template_of_group = {"leaderWorkerTemplate": two(size=size), "startupPolicy": policy}
    fleet = fleet_of(MODEL, service(workloadTemplate=template_of_group))
    assert [problem.path for problem in warnings(fleet)] == ["spec.workloadTemplate.startupPolicy"] * told
