"""What the program renders for a front door, by the one plan, from manifests and settings."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from components import families
from components.checks.front_door.door import Auth, Door
from components.checks.front_door.words import AuthKind, Exposure
from components.plan.environment import Environment
from components.plan.plan import Plan, plan
from tests.fleets import GPU, open_model, playground
from tests.livefleet.door.requests.doors import Object, secret

KEYS = {"alice": "alices-key-0000", "bob": "bobs-key-1111"}
SECRET = secret("clients", KEYS)
KEYED = Auth(AuthKind.API_KEY, secrets=("clients",))
DOOR = Door(Exposure.GATEWAY, internal=True, auth=KEYED)
STACKS = Path(__file__).parents[4] / "stacks"


def planned(*documents: Object, **door: Any) -> Plan:
    """The plan of a fleet with a gateway; settings of it by their names."""
    found = plan(families.objects(documents), environment(**door))
    assert not [each for each in found.problems if each.severity == "error"], list(map(str, found.problems))
    return found


def environment(**door: Any) -> Environment:
    """An environment with a gateway that is not on the internet."""
    return Environment(door=replace(DOOR, **door))


def models(*names: str) -> list[Object]:
    """The manifests of one Playground per model."""
    return [body for name in names for body in (open_model(name, flavors=[GPU]), playground(name, name))]
