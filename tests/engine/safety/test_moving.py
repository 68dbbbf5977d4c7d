"""Replacements: another name or namespace is created first and deleted last; the same name is deleted first."""

from collections.abc import Callable
from dataclasses import replace

import pulumi
import pytest

from tests.engine.safety.edits import Thing, program_of
from tests.engine.safety.standin import REFUSED, Key, StandIn
from tests.engine.support import Stack, config_map, kube_object, register
from workbench.engine.local import RunOptions
from workbench.errors import WorkbenchError

CLAIM = Thing("PersistentVolumeClaim", "team-a", "cache")
WEB = Thing("Deployment", "team-a", "web", mounts="cache")
STACK = {"cache": CLAIM, "web": WEB}
OTHER = {name: replace(thing, namespace="team-b") for name, thing in STACK.items()}


@pytest.fixture
def requests(server: StandIn, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What changes objects, in order: method and last part of the path."""
    seen: list[tuple[str, str]] = []
    send = server.send

    def recorded(method: str, path: str, *rest: object) -> tuple[int, bytes]:
        if method in ("PATCH", "DELETE"):
            seen.append((method, "/".join(path.split("/")[-3:])))
        return send(method, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(server, "send", recorded)
    return seen


def test_into_another_namespace_what_is_new_comes_first_and_the_claim_goes_last(
    stack: Stack, server: StandIn, requests: list[tuple[str, str]]
) -> None:
    stack.up(program_of(stack, STACK))
    requests.clear()
    outcome = stack.up(program_of(stack, OTHER))

    assert outcome.ok, stack.screen
    assert [path for method, path in requests if method == "PATCH"][-2:] == [
        "team-b/persistentvolumeclaims/cache",
        "team-b/deployments/web",
    ]
    assert requests[-3:] == [
        ("DELETE", "team-a/deployments/web"),
        ("DELETE", "team-a/persistentvolumeclaims/cache"),
        ("DELETE", "v1/namespaces/team-a"),
    ]
    assert " 2 replaced" in stack.screen
    assert outcome.changed == 4  # both, a namespace made and one deleted
    assert set(stack.rows()) == {"here", "space-team-b", *OTHER}
    assert stack.up(program_of(stack, OTHER)).changed == 0


def test_a_claim_with_another_name_goes_after_its_user_has_let_go(stack: Stack, server: StandIn) -> None:
    """The claim waits for pods that mount it, and those for the change that comes after it."""
    stack.up(program_of(stack, STACK))
    renamed = {"cache": replace(CLAIM, name="cache-2"), "web": replace(WEB, mounts="cache-2")}
    outcome = stack.up(program_of(stack, renamed))
    assert outcome.ok, stack.screen
    assert server.named("persistentvolumeclaims") == {"team-a/cache-2"}
    assert server.deleted == [CLAIM.key]


def test_the_same_name_is_deleted_first(stack: Stack, server: StandIn, requests: list[tuple[str, str]]) -> None:
    stack.up(program_of(stack, {"web": WEB}))
    requests.clear()
    assert stack.up(program_of(stack, {"web": replace(WEB, fixed="two")})).ok
    assert requests == [("DELETE", "team-a/deployments/web"), ("PATCH", "team-a/deployments/web")]


def test_delete_before_replace_is_honoured(stack: Stack, server: StandIn, requests: list[tuple[str, str]]) -> None:
    def program(name: str) -> Callable[[], None]:
        def run() -> None:
            options = pulumi.ResourceOptions(provider=stack.provider(), delete_before_replace=True)
            register(kube_object("v1", "ConfigMap", name, "default", data={"a": "1"}), options, "one")

        return run

    stack.up(program("old"))
    requests.clear()
    assert stack.up(program("new")).ok
    assert requests == [("DELETE", "default/configmaps/old"), ("PATCH", "default/configmaps/new")]


def test_the_preview_counts_one_replacement_and_shows_why(stack: Stack, server: StandIn) -> None:
    stack.up(program_of(stack, {"web": WEB}))
    outcome = stack.preview(program_of(stack, {"web": replace(WEB, name="web-2")}))
    assert outcome.changed == 1
    assert " 1 to replace" in stack.screen
    assert "to delete" not in stack.screen
    assert "cannot change in place: metadata.name; the old object is deleted last" in stack.screen


def test_there_and_back_again_after_a_failure(stack: Stack, server: StandIn) -> None:
    """Something else fails, so nothing is deleted; the next program is the first one: the old objects serve again."""
    stack.up(program_of(stack, STACK))
    uids = {key: server.objects[key]["metadata"]["uid"] for key in (CLAIM.key, WEB.key)}
    failing = stack.up(with_failure(stack, OTHER))
    assert not failing.ok
    assert not server.deleted
    outcome = stack.up(program_of(stack, STACK))
    assert outcome.ok, stack.screen
    assert {key: server.objects[key]["metadata"]["uid"] for key in uids} == uids
    assert server.named("deployments") == {"team-a/web"}
    assert set(stack.rows()) == {"here", "space-team-a", *STACK}


def with_failure(stack: Stack, things: dict[str, Thing]) -> Callable[[], None]:
    """A program one object of which is refused."""

    def run() -> None:
        program_of(stack, things)()
        config_map(REFUSED, pulumi.ResourceOptions(provider=stack.provider("again")), a="1")

    return run


def test_what_a_failed_run_left_goes_with_the_next(stack: Stack, server: StandIn) -> None:
    stack.up(program_of(stack, STACK))
    stack.up(with_failure(stack, OTHER))
    outcome = stack.up(program_of(stack, OTHER))
    assert outcome.ok, stack.screen
    assert "left by an interrupted replacement" in stack.screen
    assert server.named("deployments") == {"team-b/web"}
    assert server.named("namespaces") == {"/default", "/envoy-gateway-system", "/kube-system", "/team-b"}


@pytest.mark.parametrize("kept", [{"retain_on_delete": True}, {"adopted": True}])
def test_the_old_object_stays_if_it_was_to_stay(stack: Stack, server: StandIn, kept: dict[str, bool]) -> None:
    def program(name: str) -> Callable[[], None]:
        def run() -> None:
            retain = kept.get("retain_on_delete", False)
            options = pulumi.ResourceOptions(provider=stack.provider(), retain_on_delete=retain)
            register(kube_object("v1", "ConfigMap", name, "default", data={"a": "1"}), options, "one")

        return run

    theirs = Key("configmaps", "default", "old")
    if "adopted" in kept:
        server.create(theirs, kube_object("v1", "ConfigMap", "old", "default", data={}), manager="kubectl")
    stack.up(program("old"))
    assert stack.up(program("new")).ok
    assert server.deleted == []
    stack.destroy()
    assert theirs in server.objects


def test_a_protected_resource_does_not_move(stack: Stack, server: StandIn) -> None:
    def program(name: str) -> Callable[[], None]:
        def run() -> None:
            options = pulumi.ResourceOptions(provider=stack.provider(), protect=True)
            register(kube_object("v1", "ConfigMap", name, "default", data={"a": "1"}), options, "one")

        return run

    stack.up(program("old"))
    with pytest.raises(WorkbenchError, match="protected"):
        stack.up(program("new"))
    assert server.named("configmaps") == {"default/old"}


def test_offline_the_plan_takes_objects_to_be_where_they_were(stack: Stack, server: StandIn) -> None:
    stack.up(program_of(stack, STACK))
    stack.options = RunOptions(offline=True)
    assert stack.preview(program_of(stack, STACK)).changed == 0
    assert stack.preview(program_of(stack, OTHER)).changed == 4
