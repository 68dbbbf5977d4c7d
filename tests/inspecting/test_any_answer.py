"""Whatever types the fields of live objects have: they are refused, or the cluster is inspected."""

import copy
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.contract.schema.live import wrong_types
from tests.inspecting.objects import an_object, deployment, group, hpa, live, node, pod, service
from workbench.inspecting.inspection import inspect
from workbench.inspecting.reading import read_kinds
from workbench.inspecting.snapshot import ClusterSnapshot

DEPLOYMENTS = yaml.safe_load(Path(__file__).with_name("deployments.yaml").read_text())
CHAT = live(deployment("chat"))
OBJECTS: list[dict[str, Any]] = [
    *(body for each in DEPLOYMENTS for body in each["objects"]),
    CHAT,
    live(group("group")),
    live(hpa(CHAT)),
    pod(live(an_object("apps/v1", "ReplicaSet", "chat-1"), CHAT), "chat-1-x", "n"),
    service("chat", "chat"),
    node("n", "g5.2xlarge", gpus=1),
]
JUNK: tuple[Any, ...] = (
    None,
    5,
    -1,
    10**30,
    True,
    1.5,
    "x",
    "",
    [],
    {},
    [None],
    [5],
    ["x"],
    [[]],
    [{}],
    {"a": None},
    {"a": 5},
    {"": {}},
)


def paths(value: Any, before: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in pairs for path in ((*before, key), *paths(inner, (*before, key)))]


def test_what_servers_return_has_the_types() -> None:
    assert [(body, wrong) for body in OBJECTS if (wrong := [*wrong_types(body)])] == []
    assert {kind.kind for kind in read_kinds()} >= {"Pod", "Node", "InferencePool"}


@given(st.data())
def test_any_value_is_refused_or_read(data: st.DataObject) -> None:
    objects = copy.deepcopy(OBJECTS)
    for _ in range(data.draw(st.integers(1, 3))):
        body = data.draw(st.sampled_from(objects))
        path = data.draw(st.sampled_from([path for path in paths(body) if path[0] in ("metadata", "spec", "status")]))
        if path in (("metadata",), ("metadata", "name"), ("metadata", "namespace")):
            continue  # every object that the client returns has them
        target: Any = body
        try:
            for step in path[:-1]:
                target = target[step]
            target[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change replaced it
    inspect(ClusterSnapshot(tuple(body for body in objects if not [*wrong_types(body)])))
