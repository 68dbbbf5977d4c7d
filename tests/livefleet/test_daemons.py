"""Programs that outlive the command: started once, replaced where they must be, found again, stopped."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from livefleet.daemons import keep_running, kept_port, listens, running_daemon, stop_daemon
from livefleet.folder import LiveFolder
from tests.monitoring.programs.daemon import eventually
from toolkit.errors import UserError
from toolkit.process import start

WAITS = "import sys, time; print('here', flush=True); time.sleep(300)"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[LiveFolder]:
    made = LiveFolder(tmp_path)
    made.make()
    (made.path / "idle").mkdir()
    yield made
    stop_daemon(made, "idle")


def words(folder: LiveFolder, code: str = WAITS, *more: str) -> list[str]:
    """A program, with its folder among its arguments as any of them has it."""
    return [sys.executable, "-c", code, f"--folder={folder.path.resolve()}/idle/", *more]


def pid(folder: LiveFolder) -> int:
    process = running_daemon(folder, "idle")
    assert process
    return process.pid


def said(folder: LiveFolder) -> bool:
    return folder.log("idle").exists() and "here" in folder.log("idle").read_text()


def test_it_is_started_once(folder: LiveFolder) -> None:
    assert keep_running(folder, "idle", words(folder), lambda: said(folder))
    before = pid(folder)
    assert not keep_running(folder, "idle", words(folder), lambda: True)
    assert pid(folder) == before


def test_with_other_words_it_is_started_again(folder: LiveFolder) -> None:
    keep_running(folder, "idle", words(folder), lambda: said(folder))
    before = pid(folder)
    assert keep_running(folder, "idle", words(folder, WAITS, "--other=1"), lambda: True)
    assert pid(folder) != before


def test_one_that_does_not_answer_any_more_is_started_again(folder: LiveFolder) -> None:
    keep_running(folder, "idle", words(folder), lambda: said(folder))
    before = pid(folder)
    answers = iter([False, True])
    assert keep_running(folder, "idle", words(folder), lambda: next(answers))
    assert pid(folder) != before


def test_one_that_nobody_noted_is_ended(folder: LiveFolder) -> None:
    """A command that was killed between starting a program and noting it."""
    unnoted = start(words(folder), folder.log("idle"))
    eventually(lambda: said(folder), "the program")
    assert running_daemon(folder, "idle") is None
    assert keep_running(folder, "idle", words(folder), lambda: True)
    assert not unnoted.alive()
    assert pid(folder) != unnoted.pid


def test_one_that_ends_is_an_error_with_its_last_words(folder: LiveFolder) -> None:
    folder.log("idle").parent.mkdir(parents=True)
    folder.log("idle").write_text("of an earlier run\n")
    with pytest.raises(UserError) as error:
        keep_running(folder, "idle", words(folder, "import sys; sys.exit('the disk is full')"), lambda: False)
    assert str(error.value) == f"idle exited right after its start; end of {folder.log('idle')}:\nthe disk is full"
    assert running_daemon(folder, "idle") is None


def test_one_that_never_is_ready_is_an_error_and_ended(folder: LiveFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livefleet.daemons._READY_SECONDS", 0.5)
    with pytest.raises(UserError, match="idle was not ready after"):
        keep_running(folder, "idle", words(folder), lambda: False)
    assert running_daemon(folder, "idle") is None


def test_stopping_says_whether_one_ran(folder: LiveFolder) -> None:
    assert not stop_daemon(folder, "idle")
    keep_running(folder, "idle", words(folder), lambda: said(folder))
    assert stop_daemon(folder, "idle")
    assert not stop_daemon(folder, "idle")


def test_a_port_is_kept_until_somebody_else_has_it(folder: LiveFolder) -> None:
    port = kept_port(folder, "idle")
    assert not listens(port)
    assert kept_port(folder, "idle") == port
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        assert kept_port(folder, "idle") != port


@pytest.mark.parametrize("content", ["", "eighty", "-"])
def test_a_port_file_that_holds_none_is_written_anew(folder: LiveFolder, content: str) -> None:
    (folder.path / "idle" / "port").write_text(content)
    port = kept_port(folder, "idle")
    assert (folder.path / "idle" / "port").read_text() == str(port)
