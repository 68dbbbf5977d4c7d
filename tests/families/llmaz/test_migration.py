"""Manifests are converted between releases without a change of what they render to."""

import copy
import itertools
import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.kinds import Kinds
from components.families import objects
from components.families.llmaz.family import FAMILY
from components.families.llmaz.kinds import RELEASES
from components.families.llmaz.migration import steps
from components.families.migration import Batch, MigratedDocument, migrate, plain
from components.fleet.rendered import Fleet
from components.plan.rendering import render_fleet
from tests.families.llmaz.generated import CPU, manifests
from tests.families.llmaz.services import template, two
from tests.families.migrated_texts import migrated_text
from tests.fleets import Object, errors, open_model, playground, runtime, service

KINDS = Kinds([member.kind for member in FAMILY.members])
NAMES = RELEASES.names
EXAMPLES = int(os.environ.get("INFERENCE_PLATFORM_MIGRATIONS", "40"))
PAIRS = [*itertools.pairwise(NAMES), (NAMES[0], NAMES[-1])]
HPA: Object = {"hpa": {"metrics": [CPU]}}


def migrated(documents: list[Object], origin: str, target: str) -> Batch:
    batch = Batch([MigratedDocument(copy.deepcopy(document)) for document in documents])
    migrate(batch, KINDS, RELEASES, steps(), origin, target)
    return batch


def values(batch: Batch) -> list[Object]:
    return [plain(document.value) for document in batch.documents]


def rendered_in(release: str, documents: list[Object]) -> tuple[list[Object], list[str]]:
    """Return what documents of a release render to, and the paths of errors."""
    read = objects(documents, releases={"llmaz": release})
    assert not read.problems, (release, list(map(str, read.problems)))
    fleet = render_fleet(read.resources)
    return _objects(fleet), sorted(problem.reason for problem in errors(fleet))


def _objects(fleet: Fleet) -> list[Object]:
    return [body for item in fleet.rendered for body in item.objects]


def without_inferred(document: Object) -> Object:
    """Leave out a name of arguments that need not be written: v0.1.0 has a default, later releases infer one."""
    config = dict(document["spec"].get("backendRuntimeConfig") or {})
    args = config.get("args")
    if isinstance(args, dict) and args.get("name") == "default":
        config["args"] = {key: value for key, value in args.items() if key != "name"}
    elif config.get("configName") in ("speculative-decoding", "model-parallelism"):
        del config["configName"]
    else:
        return document
    return {**document, "spec": {**document["spec"], "backendRuntimeConfig": config}}


# -- whatever is generated


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]} {pair[1]}")
@pytest.mark.parametrize("direction", [1, -1], ids=["forward", "backward"])
def test_what_is_rendered_stays_and_there_and_back_is_where_one_was(pair: tuple[str, str], direction: int) -> None:
    origin, target = pair[::direction]
    clean = list[int]()

    @settings(max_examples=EXAMPLES, database=None)
    @given(manifests(origin, target))
    def holds(documents: list[Object]) -> None:
        batch = migrated(documents, origin, target)
        if batch.losses:
            return
        assert rendered_in(target, values(batch)) == rendered_in(origin, documents)
        back = migrated(values(batch), target, origin)
        assert not back.losses
        if not (batch.notes or back.notes):
            clean.append(1)
            assert [*map(without_inferred, values(back))] == [*map(without_inferred, documents)]
            if values(back) != documents:
                assert rendered_in(origin, values(back)) == rendered_in(origin, documents)

    holds()
    assert len(clean) >= EXAMPLES // 40


@settings(max_examples=EXAMPLES)
@given(st.sampled_from(NAMES), st.data())
def test_a_document_in_the_form_of_the_target_is_left_alone(target: str, data: st.DataObject) -> None:
    """Without a release that is set, newer forms may stand beside older ones."""
    documents = data.draw(manifests(target))
    for origin in NAMES[: NAMES.index(target)]:
        batch = migrated(documents, origin, target)
        changed = [a for a, b in zip(values(batch), documents, strict=True) if a != b]
        # Only where a schema sets another default is a value written that was not there.
        assert all("configName" in json.dumps(value) for value in changed)


# -- examples of each change, there and back

OLD_RUNTIME = {
    **runtime(),
    "spec": {
        "image": "i",
        "version": "v",
        "commands": ["c"],
        "args": [{"name": "default", "flags": ["-a"]}, {"name": "other"}],
        "resources": {"limits": {"cpu": 2}},
    },
}
POD = template()
CHANGES: dict[str, tuple[str, str, Object, Object]] = {
    "flavors": (
        "v0.1.0",
        "v0.1.1",
        open_model(flavors=[{"name": "f", "requests": {"cpu": 1}}]),
        open_model(flavors=[{"name": "f", "limits": {"cpu": 1}}]),
    ),
    "runtime": (
        "v0.1.0",
        "v0.1.1",
        OLD_RUNTIME,
        runtime(
            image="i",
            version="v",
            commands=["c"],
            recommendedConfigs=[
                {"name": "default", "args": ["-a"], "resources": {"limits": {"cpu": 2}}},
                {"name": "other", "resources": {"limits": {"cpu": 2}}},
            ],
        ),
    ),
    "arguments": (
        "v0.1.0",
        "v0.1.1",
        playground(backendRuntimeConfig={"name": "tgi", "args": {"name": "other", "flags": ["-x"]}}),
        playground(backendRuntimeConfig={"backendName": "tgi", "configName": "other", "args": ["-x"]}),
    ),
    "arguments without a name": (
        "v0.1.0",
        "v0.1.1",
        playground(backendRuntimeConfig={"args": {"flags": ["-x"]}}),
        playground(backendRuntimeConfig={"args": ["-x"]}),
    ),
    "trigger of v0.1.0": (
        "v0.1.0",
        "v0.1.1",
        playground(elasticConfig={"maxReplicas": 2, "scaleTrigger": HPA}),
        playground(elasticConfig={"maxReplicas": 2}, backendRuntimeConfig={"scaleTrigger": HPA}),
    ),
    "trigger of v0.1.1": (
        "v0.1.1",
        "79d833c",
        playground(
            elasticConfig={"maxReplicas": 2}, backendRuntimeConfig={"backendName": "tgi", "scaleTrigger": HPA}
        ),
        playground(
            elasticConfig={"maxReplicas": 2, "scaleTrigger": HPA}, backendRuntimeConfig={"backendName": "tgi"}
        ),
    ),
    "trigger over two steps": (
        "v0.1.0",
        "79d833c",
        playground(elasticConfig={"maxReplicas": 2, "scaleTrigger": HPA}),
        playground(elasticConfig={"maxReplicas": 2, "scaleTrigger": HPA}),
    ),
    "command": ("v0.1.1", "79d833c", runtime(commands=["c"]), runtime(command=["c"])),
    "template": (
        "v0.1.1",
        "79d833c",
        service(
            workloadTemplate={
                "replicas": 2,
                "rolloutStrategy": {"type": "RollingUpdate"},
                "leaderWorkerTemplate": two(restartPolicy="None"),
            }
        ),
        service(replicas=2, rolloutStrategy={"type": "RollingUpdate"}, workloadTemplate=two(restartPolicy="None")),
    ),
    "upper bound": (
        "79d833c",
        "v0.1.2",
        playground(elasticConfig={"minReplicas": 2}),
        playground(elasticConfig={"minReplicas": 2, "maxReplicas": 99999}),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_form_becomes_that_of_the_other_release(name: str) -> None:
    older, newer, old, new = CHANGES[name]
    assert values(migrated([old], older, newer)) == [new]
    assert values(migrated([new], newer, older)) == [old]


DRAFTED = {"models": [{"name": "m"}, {"name": "d", "role": "draft"}]}


@pytest.mark.parametrize(
    ("origin", "target", "config", "expected"),
    [
        # The schema of v0.1.0 names the arguments default, where later releases infer a configuration.
        ("v0.1.0", "v0.1.1", {"args": {"flags": ["-x"]}}, {"configName": "default", "args": ["-x"]}),
        ("v0.1.0", "v0.1.1", {"args": {"name": "speculative-decoding"}}, {}),
        ("v0.1.1", "v0.1.0", {"args": ["-x"]}, {"args": {"name": "speculative-decoding", "flags": ["-x"]}}),
        ("v0.1.1", "v0.1.0", {"configName": "default", "args": ["-x"]}, {"args": {"flags": ["-x"]}}),
        # That of v0.1.3 does so too.
        ("v0.1.2", "v0.1.3", {"args": ["-x"]}, {"args": ["-x"], "configName": "speculative-decoding"}),
        ("v0.1.4", "v0.1.3", {"args": ["-x"]}, {"args": ["-x"], "configName": "speculative-decoding"}),
        ("v0.1.3", "v0.1.4", {"configName": "default"}, {"configName": "default"}),
    ],
)
def test_the_configuration_of_a_draft_model_stays(origin: str, target: str, config: Object, expected: Object) -> None:
    (made,) = values(migrated([playground(modelClaims=DRAFTED, backendRuntimeConfig=config)], origin, target))
    assert made["spec"].get("backendRuntimeConfig", {}) == expected


LOSSES: dict[str, tuple[str, str, list[Object], str]] = {
    "shared memory": (
        "v0.1.1",
        "v0.1.0",
        [playground(backendRuntimeConfig={"sharedMemorySize": "1Gi"})],
        "Playground/p: spec.backendRuntimeConfig.sharedMemorySize: unknown field of llmaz v0.1.0",
    ),
    "shared memory of a runtime": (
        "v0.1.1",
        "v0.1.0",
        [runtime(recommendedConfigs=[{"name": "default", "sharedMemorySize": "1Gi"}])],
        "BackendRuntime/own: spec.recommendedConfigs[0].sharedMemorySize: v0.1.0 has no shared memory",
    ),
    "resources of one configuration": (
        "v0.1.1",
        "v0.1.0",
        [runtime(recommendedConfigs=[{"name": "default", "resources": {"limits": {"cpu": 1}}}, {"name": "b"}])],
        "BackendRuntime/own: spec.recommendedConfigs[1].resources: all arguments of a runtime have the same "
        "resources in v0.1.0",
    ),
    "commands of a group": (
        "v0.1.1",
        "79d833c",
        [runtime(multiHostCommands={"leader": ["a"], "worker": ["b"]})],
        "BackendRuntime/own: spec.multiHostCommands: unknown field of llmaz 79d833c",
    ),
    "a reference to a trigger of another file": (
        "v0.1.0",
        "v0.1.1",
        [playground(elasticConfig={"maxReplicas": 2, "scaleTriggerRef": {"name": "a"}})],
        "Playground/p: spec.elasticConfig.scaleTriggerRef: refers to a trigger of BackendRuntime 'vllm', which is "
        "not among the manifests; add its manifest",
    ),
    "subdomains": (
        "v0.1.1",
        "79d833c",
        [
            service(
                workloadTemplate={
                    "leaderWorkerTemplate": {"workerTemplate": POD},
                    "networkConfig": {"subdomainPolicy": "UniquePerReplica"},
                }
            )
        ],
        "Service/s: spec.workloadTemplate.networkConfig: is here only in releases that have leaderWorkerTemplate",
    ),
    "hooks": (
        "79d833c",
        "v0.1.1",
        [runtime(lifecycle={"preStop": {"sleep": {"seconds": 1}}})],
        "BackendRuntime/own: spec.lifecycle: unknown field of llmaz v0.1.1",
    ),
    "a bucket": (
        "v0.1.4",
        "v0.1.3",
        [open_model(source="s3://bucket/m")],
        "OpenModel/m: spec.source.uri: releases before v0.1.4 reject s3://",
    ),
    "weights that the engine fetches": (
        "v0.1.4",
        "v0.1.3",
        [playground(annotations={"llmaz.io/skip-model-loader": "true"})],
        "Playground/p: metadata.annotations[llmaz.io/skip-model-loader]: releases before v0.1.4 ignore it and load "
        "the weights into the pod",
    ),
    "owner": (
        "3c13ff3",
        "v0.1.4",
        [{**open_model(), "spec": {**open_model()["spec"], "ownedBy": "a"}}],
        "OpenModel/m: spec.ownedBy: unknown field of llmaz v0.1.4",
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_the_target_cannot_express_is_a_loss(name: str) -> None:
    origin, target, documents, loss = LOSSES[name]
    assert [str(each) for each in migrated(documents, origin, target).losses] == [loss]


def test_a_trigger_that_a_playground_refers_to_is_copied() -> None:
    triggers = [{"name": "a", "hpa": {}}, {"name": "b", **HPA}]
    own = copy.deepcopy(OLD_RUNTIME)
    own["spec"]["scaleTriggers"] = triggers
    elastic = {"maxReplicas": 2, "scaleTriggerRef": {"name": "b"}}
    referring = playground(backendRuntimeConfig={"name": "own"}, elasticConfig=elastic)
    batch = migrated([open_model(), own, referring], "v0.1.0", "v0.1.1")
    assert not batch.losses
    assert values(batch)[2]["spec"]["backendRuntimeConfig"]["scaleTrigger"] == HPA
    assert [note.path for note in batch.notes] == ["spec.elasticConfig.scaleTriggerRef", "spec.scaleTriggers"]


def test_fields_without_effect_are_removed_with_a_note() -> None:
    whole = {
        "leaderWorkerTemplate": {"workerTemplate": POD},
        "startupPolicy": "LeaderReady",
        "networkConfig": {"subdomainPolicy": "Shared"},
    }
    batch = migrated([service(workloadTemplate=whole)], "v0.1.1", "79d833c")
    assert values(batch) == [service(workloadTemplate={"workerTemplate": POD})]
    assert not batch.losses
    assert len(batch.notes) == 2


# -- comments and order of parsed files

FILE = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: p  # the name
spec:
  modelClaim:
    modelName: m
  # who serves
  backendRuntimeConfig:
    name: vllm  # the engine
    args:
      name: other  # which ones
      flags:  # mine
        - --seed  # fixed
        - "7"
  elasticConfig:
    minReplicas: 1  # at night
    maxReplicas: 3
    scaleTrigger:  # by load
      hpa: {}
"""
OF_CONTRACT = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: p  # the name
spec:
  modelClaim:
    modelName: m
  # who serves
  backendRuntimeConfig:
    backendName: vllm  # the engine
    configName: other  # which ones
    args:  # mine
      - --seed  # fixed
      - "7"
  elasticConfig:
    minReplicas: 1  # at night
    maxReplicas: 3
    scaleTrigger:  # by load
      hpa: {}
"""


def written(text: str, origin: str, target: str) -> str:
    return migrated_text(text, lambda batch: migrate(batch, KINDS, RELEASES, steps(), origin, target))


def test_comments_and_order_stay() -> None:
    made = written(FILE, "v0.1.0", "79d833c")
    assert [line.split() for line in made.splitlines()] == [line.split() for line in OF_CONTRACT.splitlines()]


SET = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata:
  name: s
spec:
  modelClaims:
    models:
      - name: m
  workloadTemplate:
    replicas: 2  # two of them
    leaderWorkerTemplate:
      size: 1  # one pod
      workerTemplate:  # the pod
        spec:
          containers:
            - name: model-runner  # as llmaz wants it
              image: example.com/e:v1
"""


def test_comments_of_a_template_stay_there_and_back() -> None:
    made = written(SET, "v0.1.1", "79d833c")
    for comment in ("two of them", "one pod", "the pod", "as llmaz wants it"):
        assert f"# {comment}" in made
    assert written(made, "79d833c", "v0.1.1").count("#") == SET.count("#")
