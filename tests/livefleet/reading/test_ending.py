"""How long requests have when pods end, as the simulations read it from a plan."""

from typing import Any

import pytest

from components.families import objects
from components.plan.environment import Environment
from components.plan.plan import plan
from livefleet.reading.workloads import served_workloads
from livefleet.virtual.reading import virtual_fleet
from tests.families.kthena.serving.support import engine, model_serving, pods, role
from tests.fleets import open_model, playground

BY_HAND = engine("--port", "8000", ports=[{"name": "http", "containerPort": 8000}])
WAITING = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "./drain.sh"]}}}


@pytest.mark.parametrize(
    ("documents", "seconds"),
    [
        ((open_model(), playground()), 115),
        ((model_serving("ms", role(entryTemplate=pods(BY_HAND))),), 0),
        ((model_serving("ms", role(entryTemplate=pods(BY_HAND | {"lifecycle": WAITING}))),), 15),
    ],
    ids=["rendered", "by hand", "by hand with a hook"],
)
def test_requests_are_cut_off_as_the_pods_say(documents: tuple[dict[str, Any], ...], seconds: float) -> None:
    planned = plan(objects(documents), Environment())
    (served,) = served_workloads(planned)
    (virtual,) = virtual_fleet("dev", planned).workloads
    assert served.finishing == virtual.finishing == seconds
