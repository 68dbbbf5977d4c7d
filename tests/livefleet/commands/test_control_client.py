"""The commands' side of the control address."""

import socket
from pathlib import Path

import pytest

from livefleet import control_client
from livefleet.control_api import FaultOutcome, LiveFault, NoteKind, new_notes
from livefleet.control_client import ControlClient, UnreachableError
from livefleet.folder import LiveFolder
from tests.livefleet.commands.standin import TOKEN, control, model, note, pod, project, scaler, state
from toolkit.errors import UserError


def test_the_state_arrives_whole(tmp_path: Path) -> None:
    wanted = state(models=(model(scalers=(scaler(),)),), pods=(pod(),), notes=(note("a", NoteKind.FAULT),))
    with control(wanted) as served:
        assert ControlClient.of(project(tmp_path, served)).state() == wanted


def test_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no live fleet runs in .*\.workbench; start it with `make up`"):
        ControlClient.of(LiveFolder(tmp_path / ".workbench"))


def test_it_has_ended(tmp_path: Path) -> None:
    with control(state()) as served:
        found = ControlClient.of(project(tmp_path, served))
    with pytest.raises(UnreachableError, match=r"does not answer at http://127\.0\.0\.1:\d+; start it with"):
        found.state()


def test_a_process_that_is_too_busy_need_not_be_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It listens, and takes its time: that it must be started would be wrong."""
    monkeypatch.setattr(control_client, "_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(UnreachableError) as caught:
            ControlClient(address, "x").state()
    assert str(caught.value).startswith(f"the live fleet at {address} did not answer within ")
    assert "make up" not in str(caught.value)


def test_a_fault_may_take_longer_than_a_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_client, "_SECONDS", 0.2)
    with control(state()) as served:
        served.pause = 1.0
        served.answers["/fault"] = 200, {"fault": "zone", "name": "a", "pods": [], "broken": 0, "text": "gone"}
        assert ControlClient.of(project(tmp_path, served)).fault(LiveFault.ZONE, "a").text == "gone"


def test_a_proxy_of_the_environment_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with control(state()) as served:
        assert ControlClient.of(project(tmp_path, served)).state() == served.state


@pytest.mark.parametrize("text", ["", "[]", "{", '{"at": "soon"}', "<html>", "[" * 100_000])
def test_another_program_answers(text: str, tmp_path: Path) -> None:
    with control(state()) as served:
        served.text = text or " "
        with pytest.raises(UserError, match="is not the live fleet of this version"):
            ControlClient.of(project(tmp_path, served)).state()


def test_a_defect_of_the_process_leads_to_its_log(tmp_path: Path) -> None:
    with control(state()) as served:
        served.answers["/fault"] = 500, "500 Internal Server Error"
        with pytest.raises(UserError, match=r"the live fleet failed at /fault; see live/logs/pods.log in the state"):
            ControlClient.of(project(tmp_path, served)).fault(LiveFault.NODE, "a")


def test_a_wrong_token_is_told(tmp_path: Path) -> None:
    with control(state()) as served:
        found = ControlClient(f"http://127.0.0.1:{served.port}", "another")
        with pytest.raises(UserError, match=r"^wrong token$"):
            found.state()
    assert served.asked == []


def test_the_token_is_not_in_what_is_printed() -> None:
    assert TOKEN not in repr(ControlClient("http://127.0.0.1:1", TOKEN))


def test_a_fault(tmp_path: Path) -> None:
    with control(state()) as served:
        served.answers["/fault"] = 200, {"fault": "pod", "name": "a", "pods": ["x/a"], "broken": 3, "text": "gone"}
        found = ControlClient.of(project(tmp_path, served)).fault(LiveFault.POD, "a")
    assert found == FaultOutcome(LiveFault.POD, "a", ("x/a",), 3, "gone")
    assert served.asked == [("/fault", {"fault": "pod", "name": "a"})]


def test_what_there_is_instead(tmp_path: Path) -> None:
    with control(state()) as served:
        served.answers["/fault"] = 404, {"error": "no node 'x'\n", "there": [f"node-{n}" for n in range(25)]}
        with pytest.raises(UserError) as refused:
            ControlClient.of(project(tmp_path, served)).fault(LiveFault.NODE, "x")
    names = ", ".join(f"node-{n}" for n in range(20))
    assert str(refused.value) == rf"no node 'x'\x0a; available: {names} and 5 more"


@pytest.mark.parametrize(
    ("given", "body"),
    [((2.0, None), {"answers": 2.0}), ((None, 3.0), {"starts": 3.0}), ((2.0, 3.0), {"answers": 2.0, "starts": 3.0})],
)
def test_speeds_that_are_not_given_stay(
    given: tuple[float | None, float | None], body: dict[str, float], tmp_path: Path
) -> None:
    with control(state()) as served:
        served.answers["/speed"] = 200, {"answers": 7, "starts": 8}
        assert ControlClient.of(project(tmp_path, served)).speed(*given) == (7, 8)
    assert served.asked == [("/speed", body)]


A, B, C, D = (note(text, at=number + 1.0) for number, text in enumerate("ABCD"))
NOTES = {
    "nothing before": ((), (A, B), (A, B)),
    "the same": ((A, B), (A, B), ()),
    "one more": ((A, B), (A, B, C), (C,)),
    "the oldest are forgotten": ((A, B, C), (B, C, D), (D,)),
    "all are new": ((A, B), (C, D), (C, D)),
    "nothing at all": ((A,), (), ()),
}


@pytest.mark.parametrize("name", NOTES)
def test_new_notes(name: str) -> None:
    before, after, new = NOTES[name]
    assert new_notes(before, after) == new
