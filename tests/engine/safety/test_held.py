"""What a resource of the program holds is not deleted on behalf of another."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pytest

from tests.engine.safety.edits import SELECTED, Thing, program_of
from tests.engine.safety.standin import Key, StandIn
from tests.engine.support import Stack, config_map, kube_object, register
from toolkit.kube import Kube
from workbench.engine.apply import execute
from workbench.engine.apply.ownership import take_over
from workbench.engine.state import Intent, State
from workbench.errors import WorkbenchError

IGNORED = '{"change-destroys": "nothing else deploys this stack"}'
A = Thing("Deployment", "team-a", "s")
CLAIM = Thing("PersistentVolumeClaim", "team-a", "cache")


@pytest.fixture(autouse=True)
def ignoring(stack: Stack) -> None:
    """With the rule, such programs are refused; what follows holds for those who ignore it."""
    stack.config["proj:ignore"] = IGNORED


def test_another_resource_for_an_object_is_refused_as_the_cli_would_delete_it(stack: Stack, server: StandIn) -> None:
    del stack.config["proj:ignore"]
    stack.up(program_of(stack, {"old": A}))
    before = dict(server.objects)
    for run in (stack.preview, stack.up):
        with pytest.raises(WorkbenchError, match="Deployment team-a/s would be deleted although") as refused:
            run(program_of(stack, {"new": A}))
    assert server.objects == before
    former = re.findall(r'aliases=\["(.*)"\]', str(refused.value))
    assert [urn.rsplit("::", 1)[-1] for urn in former] == ["old"]

    def renamed() -> None:
        options = pulumi.ResourceOptions(provider=stack.provider(), aliases=former)
        register(A.body(), options, "new")

    assert stack.up(renamed).ok
    assert server.deleted == []


def test_names_that_change_while_models_are_added_lose_nothing(stack: Stack, server: StandIn) -> None:
    """Adding `s` in a second namespace renamed the resources of the first; its objects went with their old names."""
    stack.up(program_of(stack, {"s": A, "s-cache": CLAIM}))
    uids = {key: server.objects[key]["metadata"]["uid"] for key in (A.key, CLAIM.key)}
    both = {
        "team-a/s": A,
        "team-a/s-cache": CLAIM,
        "team-b/s": replace(A, namespace="team-b"),
        "team-b/s2": replace(A, namespace="team-b", name="s2"),
    }
    outcome = stack.up(program_of(stack, both, spaces="other"))

    assert outcome.ok, stack.screen
    assert server.deleted == []
    assert {key: server.objects[key]["metadata"]["uid"] for key in uids} == uids
    assert set(stack.rows()) == {"here", "other-team-a", "other-team-b", *both}
    assert "its object belongs to team-a/s and stays" in stack.screen
    assert stack.up(program_of(stack, both, spaces="other")).changed == 0


def test_what_nobody_holds_goes(stack: Stack, server: StandIn) -> None:
    stack.up(program_of(stack, {"s": A, "cache": CLAIM}))
    assert stack.up(program_of(stack, {"cache": CLAIM})).ok
    assert server.deleted == [A.key]
    stack.destroy()
    assert set(server.deleted) == {A.key, CLAIM.key, Key("namespaces", "", "team-a")}
    assert stack.rows() == {}


def test_exchanged_names_delete_nothing(stack: Stack, server: StandIn) -> None:
    one, two = (Thing("ConfigMap", "team-a", name, value=name) for name in ("one", "two"))
    stack.up(program_of(stack, {"x": one, "y": two}))
    outcome = stack.up(program_of(stack, {"x": replace(two, value="new"), "y": one}))
    assert outcome.ok
    assert server.deleted == []
    assert server.objects[two.key]["data"] == {"value": "new"}
    assert stack.up(program_of(stack, {"x": replace(two, value="new"), "y": one})).changed == 0


def test_a_new_owner_may_replace_what_cannot_change_in_place(stack: Stack, server: StandIn) -> None:
    """The former owner leaves with this run: nothing else stands for the object."""
    stack.up(program_of(stack, {"old": A}))
    uid = server.objects[A.key]["metadata"]["uid"]
    outcome = stack.up(program_of(stack, {"new": replace(A, fixed="two")}))
    assert outcome.ok, stack.screen
    assert server.objects[A.key]["spec"]["selector"] == {"matchLabels": {SELECTED: "two"}}
    assert server.objects[A.key]["metadata"]["uid"] != uid
    assert set(stack.rows()) == {"here", "space-team-a", "new"}


def test_of_two_resources_for_one_object_none_deletes_it(stack: Stack, server: StandIn) -> None:
    """A mistake of the program; neither a change of one of them nor its departure takes the object from the other."""
    stack.up(program_of(stack, {"one": A, "two": A}))
    refused = stack.up(program_of(stack, {"one": replace(A, fixed="two"), "two": A}))
    assert not refused.ok
    assert server.deleted == []
    assert stack.up(program_of(stack, {"two": A})).ok
    assert server.deleted == []
    stack.destroy()
    assert A.key in server.deleted


@pytest.mark.parametrize("intent", [Intent.DELETING, Intent.REPLACING, Intent.CREATING, Intent.UPDATING])
def test_a_step_that_was_begun_does_not_delete_what_another_holds_now(
    stack: Stack, server: StandIn, intent: Intent
) -> None:
    """A run was killed between writing its intent and its request; the next program gives the object to another."""
    stack.up(program_of(stack, {"old": A}))
    with State(stack.folder / "stacks", "dev") as state:
        rows = [row for urn, row in state.rows().items() if urn.endswith("::old")]
        state.write(replace(row, intent=intent, uid="" if intent is Intent.CREATING else row.uid) for row in rows)
    moved = {"new": A, "old": replace(A, name="elsewhere")}
    for program in ({"new": A}, moved, {"new": A}):
        assert stack.up(program_of(stack, program)).ok, stack.screen
        assert A.key not in server.deleted
    assert set(stack.rows()) == {"here", "space-team-a", "new"}


def test_a_deletion_that_never_began_is_taken_back(stack: Stack, server: StandIn) -> None:
    stack.up(program_of(stack, {"s": A}))
    with State(stack.folder / "stacks", "dev") as state:
        state.write(replace(row, intent=Intent.DELETING) for row in state.rows().values() if row.cluster)
    assert stack.up(program_of(stack, {"s": A})).ok
    assert server.deleted == []
    assert not any(row.intent for row in stack.rows().values())


SETS = {
    "group": "leaderworkerset.x-k8s.io",
    "names": {"kind": "LeaderWorkerSet", "plural": "leaderworkersets"},
    "versions": [{"name": "v1", "served": True}],
}
SET = kube_object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "kept", "default", spec={"replicas": 1})


@pytest.mark.parametrize(
    ("around", "inside", "told"),
    [
        (
            kube_object("v1", "Namespace", "team"),
            kube_object("v1", "ConfigMap", "kept", "team", data={"a": "1"}),
            "Namespace team is no longer in the program, but ConfigMap team/kept is",
        ),
        (
            kube_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "sets", spec=SETS),
            SET,
            "CustomResourceDefinition sets is no longer in the program, but LeaderWorkerSet default/kept is",
        ),
    ],
    ids=["namespace", "definition"],
)
def test_what_holds_something_of_the_program_stays_as_long_as_that(
    around: dict[str, Any], inside: dict[str, Any], told: str, stack: Stack, server: StandIn
) -> None:
    def program(*objects: dict[str, Any]) -> Callable[[], None]:
        def run() -> None:
            provider = stack.provider()
            for body in objects:
                register(body, pulumi.ResourceOptions(provider=provider), body["kind"])

        return run

    before = set(server.objects)
    stack.up(program(around))
    stack.up(program(around, inside))
    assert stack.up(program(inside)).ok
    assert server.deleted == []
    assert told in stack.words
    stack.up(program())
    assert set(server.objects) == before
    assert stack.rows().keys() == {"here"}


def test_retained_objects_stay_when_another_resource_of_theirs_goes(stack: Stack, server: StandIn) -> None:
    def program(*names: str) -> Callable[[], None]:
        def run() -> None:
            provider = stack.provider()
            for name in names:
                options = pulumi.ResourceOptions(provider=provider, retain_on_delete=name == "retained")
                register(kube_object("v1", "ConfigMap", "same", "default", data={"a": "1"}), options, name)

        return run

    stack.up(program("retained", "plain"))
    stack.destroy()
    assert server.deleted == []
    assert stack.rows() == {}


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_an_interrupted_run_found_there_is_kept_and_told(
    stack: Stack, server: StandIn, monkeypatch: pytest.MonkeyPatch, moment: str, *, resumed: bool
) -> None:
    """It was killed before or after it took over the fields of another owner's object."""
    theirs = Key("configmaps", "default", "theirs")
    server.create(theirs, kube_object("v1", "ConfigMap", "theirs", "default", data={}), manager="kubectl")

    def program() -> None:
        config_map("theirs", pulumi.ResourceOptions(provider=stack.provider()), a="1")

    def killed(kube: Kube, live: dict[str, Any]) -> None:
        if moment == "after":
            take_over(kube, live)
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(execute, "take_over", killed)
        with pytest.raises(SystemExit):
            stack.up(program)
    if resumed:
        assert stack.up(program).ok
    outcome = stack.destroy()
    assert outcome.ok
    assert theirs in server.objects
    assert " 1 kept" in stack.screen
    assert stack.rows() == {}
