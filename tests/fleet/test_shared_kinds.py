"""What several resources share is made after what brings its kind."""

from dataclasses import replace

import pytest

from components.fleet.combining import shared_items
from components.fleet.objects import new_object
from tests.fleet.sets import parts


@pytest.mark.parametrize(
    ("api_version", "kind", "requires"),
    [
        ("v1", "PersistentVolumeClaim", frozenset()),
        ("scheduling.k8s.io/v1", "PriorityClass", frozenset()),
        ("routes.example.com/v1", "Table", frozenset({"router"})),
    ],
)
def test_only_a_kind_that_servers_lack_is_waited_for(api_version: str, kind: str, requires: frozenset[str]) -> None:
    (item,) = parts(1).rendered
    body = new_object(api_version, kind, "shared", item.namespace, {})
    (shared,) = shared_items([replace(item, shared=(body,), requires=frozenset({"router"}))])
    assert shared.requires == requires
    assert shared.objects == (body,)
