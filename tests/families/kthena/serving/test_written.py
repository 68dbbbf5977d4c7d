"""What of a ModelServing is refused or warned of, whatever it becomes."""

from typing import Any

import pytest

from components.fleet.words import Realization
from tests.families.kthena.serving.support import (
    LABEL,
    Object,
    engine,
    group_of,
    made,
    model_serving,
    pods,
    role,
    told,
    warned,
)

ROLE = "spec.template.roles[0]"
BOTH = [Realization.NATIVE, Realization.OPERATOR]
SECRET = [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]
OWN_ADDRESS = [{"name": "MY_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
FROM_MAP = [{"configMapRef": {"name": "m"}}]
SCRIPT = {"command": ["sh", "-c", "echo $(KEY)"], "args": [], "env": SECRET}
GANG: Object = {"gangPolicy": {}}


def joining(address: str, **fields: Any) -> Object:
    script = f"bash multi-node-serving.sh worker --ray_address={address}"
    return {"name": "worker", "image": "example.com/own:1", "command": ["sh", "-c", script], **fields}


def labelled(key: str, kind: str = "labels") -> Object:
    return pods(engine(), metadata={kind: {key: "x"}})


# What it is, the role, its group, the field and a word of the reason.
REFUSED: list[tuple[str, Object, Object, str, str]] = [
    ("no pod", role(entryTemplate={}), {}, f"{ROLE}.entryTemplate.spec.containers", "at least one container"),
    ("no container", role(entryTemplate=pods()), {}, f"{ROLE}.entryTemplate.spec.containers", "at least one"),
    (
        "no container of workers",
        role("a", 2, workerTemplate=pods()),
        {},
        f"{ROLE}.workerTemplate.spec.containers",
        "at least one container",
    ),
    ("no workers", {**role(), "workerReplicas": 2}, {}, f"{ROLE}.workerTemplate", "workerReplicas 2"),
    *(
        (f"label {name}", role(entryTemplate=labelled(f"{LABEL}/{name}")), {},
         f"{ROLE}.entryTemplate.metadata.labels[{LABEL}/{name}]", "is reserved: Kthena sets it")
        for name in ("name", "group-name", "role", "role-id", "entry", "revision")
    ),
    (
        "gang of one's own",
        role("a", 1, workerTemplate=labelled("scheduling.k8s.io/group-name", "annotations")),
        GANG,
        f"{ROLE}.workerTemplate.metadata.annotations[scheduling.k8s.io/group-name]",
        "is set for the gang",
    ),
]  # fmt: skip


@pytest.mark.parametrize("realization", BOTH)
@pytest.mark.parametrize(("_what", "bad", "template", "path", "word"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(_what: str, bad: Object, template: Object, path: str, word: str, realization: Realization) -> None:
    found = told(model_serving("ms", bad, template=template), realization=realization)
    assert word in found[path]


def test_several_things_are_told_at_once() -> None:
    bad = model_serving("ms", role("a", entryTemplate={}), {**role("b"), "workerReplicas": 1})
    assert set(told(bad)) == {f"{ROLE}.entryTemplate.spec.containers", "spec.template.roles[1].workerTemplate"}


def test_annotations_of_a_gang_may_be_written_without_one() -> None:
    """A PodGroup that somebody makes by hand."""
    own = role(entryTemplate=labelled("scheduling.k8s.io/group-name", "annotations"))
    group = group_of(made(model_serving("ms", own))["LeaderWorkerSet", "ms"])
    assert group["workerTemplate"]["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "x"}


# What it is, the ModelServing, the field and a word of the reason.
WARNED: list[tuple[str, Object, str, str]] = [
    (
        "grace",
        model_serving("ms", template={"restartGracePeriodSeconds": 60}),
        "spec.template.restartGracePeriodSeconds",
        "at once",
    ),
    (
        "unused workers",
        model_serving("ms", role(workerTemplate=pods(engine()))),
        f"{ROLE}.workerTemplate",
        "workerReplicas is 0",
    ),
    (
        "a variable that is replaced",
        model_serving("ms", role(entryTemplate=pods(engine(env=[{"name": "GROUP_SIZE", "value": "3"}])))),
        f"{ROLE}.entryTemplate.spec.containers[0].env[0]",
        "GROUP_SIZE",
    ),
    (
        "a variable of an init container",
        model_serving(
            "ms",
            role("a", 1, workerTemplate=pods(engine(), initContainers=[
                {"name": "i", "image": "i", "env": [{"name": "ENTRY_ADDRESS", "value": "h"}]}])),
        ),
        f"{ROLE}.workerTemplate.spec.initContainers[0].env[0]",
        "ENTRY_ADDRESS",
    ),
    (
        "upstream's sample multi-node (issue 487)",
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$(Leader_Node_Address)")))),
        f"{ROLE}.workerTemplate.spec.containers[0].command",
        "did you mean 'ENTRY_ADDRESS'",
    ),
    (
        "a secret in a script",
        model_serving("ms", role(entryTemplate=pods(engine(**SCRIPT)))),
        f"{ROLE}.entryTemplate.spec.containers[0].command",
        "$(KEY)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("_what", "document", "path", "word"), WARNED, ids=[row[0] for row in WARNED])
def test_warned(_what: str, document: Object, path: str, word: str) -> None:
    found = warned(document)
    assert list(found) == [path]
    assert word in found[path]


@pytest.mark.parametrize(
    "document",
    [
        model_serving("ms", template={"restartGracePeriodSeconds": 0}),
        model_serving("ms", role(workerTemplate={"spec": {"containers": []}})),
        model_serving("ms", role(entryTemplate=pods(engine(env=[{"name": "GROUP", "value": "3"}])))),
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$(ENTRY_ADDRESS)")))),
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$(LWS_LEADER_ADDRESS)")))),
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$(hostname)")))),
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$$(Leader_Node_Address)")))),
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$(MY_IP)", env=OWN_ADDRESS)))),
        model_serving("ms", role("a", 1, workerTemplate=pods(joining("$(MY_IP)", envFrom=FROM_MAP)))),
    ],
)
def test_nothing_to_tell(document: Object) -> None:
    assert warned(document) == {}


HOSTILE: list[Any] = ["$(X)", "${X}", 'a"b', "a\nb", "{{ x }}", "a'b"]


@pytest.mark.parametrize("text", HOSTILE)
def test_values_are_never_read(text: str) -> None:
    """What somebody writes into variables and arguments reaches the pod as it is (D-26)."""
    own = engine(env=[{"name": "A", "value": text}], command=["run"], image="example.com/x:1")
    container = group_of(
        made(model_serving("ms", role(entryTemplate=pods({**own, "args": [text]}))))["LeaderWorkerSet", "ms"]
    )["workerTemplate"]["spec"]["containers"][0]
    assert container["args"] == [text]
    assert container["env"][-1] == {"name": "A", "value": text}
