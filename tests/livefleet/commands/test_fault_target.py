"""What a fault happens to where nobody names it."""

import pytest

from livefleet.control_api import LiveFault
from livefleet.watching.fault_target import default_target
from tests.livefleet.commands.standin import model, pod, state
from toolkit.errors import UserError

FLEET = state(
    models=(model("chat"), model("code", model="coder"), model("idle", model="idle")),
    pods=(
        pod("m/chat-1", node="n1", zone="a", running=3),
        pod("m/chat-2", node="n2", zone="b", running=2, waiting=2),
        pod("m/code-1", title="code", node="n1", zone="a", running=2),
        pod("m/code-2", title="code", node="n3", zone="c", spot=True),
        pod("m/code-3", title="code", node="", zone="", ready=False),
        pod("m/idle-1", title="idle", node="n4", zone="", ready=False),
        pod("m/idle-2", title="idle", node="n5", zone="", ready=True),
    ),
)
PICKED = {
    "the node with the most requests of all its pods": (LiveFault.NODE, "", "n1"),
    "the pod with the most requests": (LiveFault.POD, "", "m/chat-2"),
    "the zone with the most requests": (LiveFault.ZONE, "", "a"),
    "a spot node, though others have more": (LiveFault.SPOT, "", "n3"),
    "of a model by its title: other pods do not count": (LiveFault.NODE, "chat", "n2"),
    "of a model by what clients ask for": (LiveFault.NODE, "coder", "n1"),
    "one that is Ready, where none has requests": (LiveFault.NODE, "idle", "n5"),
}


@pytest.mark.parametrize("name", PICKED)
def test_picked(name: str) -> None:
    fault, asked, wanted = PICKED[name]
    assert default_target(FLEET, fault, asked) == wanted


NONE = {
    "no such model": (LiveFault.NODE, "other", "no model 'other'; available: chat, code, idle"),
    "no spot node of the model": (
        LiveFault.SPOT,
        "chat",
        "no pod of chat is on a spot node; `workbench live fault node`",
    ),
    "no zone of the model": (LiveFault.ZONE, "idle", "no pod of idle is in a zone"),
}


@pytest.mark.parametrize("name", NONE)
def test_nothing_to_pick(name: str) -> None:
    fault, asked, message = NONE[name]
    with pytest.raises(UserError) as refused:
        default_target(FLEET, fault, asked)
    assert message in str(refused.value)


@pytest.mark.parametrize("fault", LiveFault)
def test_pending_pods_are_nowhere(fault: LiveFault) -> None:
    alone = state(pods=(pod(node="", zone="", ready=False),))
    with pytest.raises(UserError, match=r"^no pod is "):
        default_target(alone, fault, "")
