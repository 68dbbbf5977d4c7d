"""State that cannot be read or written: the message names the file and says what is safe, and nothing is touched."""

import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.safety.edits import Thing, program_of
from tests.engine.safety.standin import StandIn
from tests.engine.support import Stack
from toolkit.private import private_folder
from workbench.engine.state import State, StateError
from workbench.errors import WorkbenchError

THINGS = {"a": Thing("ConfigMap", "team-a", "s"), "b": Thing("Deployment", "team-a", "s")}


@pytest.fixture
def deployed(stack: Stack, server: StandIn) -> Stack:
    assert stack.up(program_of(stack, THINGS)).ok
    server.applied.clear()
    return stack


def files(stack: Stack) -> tuple[Path, Path]:
    folder = stack.folder / "stacks"
    return folder / "dev.db", folder / "dev.key"


def refused(stack: Stack, server: StandIn) -> str:
    """What `up` and `destroy` say; both touch nothing."""
    with pytest.raises(StateError) as up:
        stack.up(program_of(stack, THINGS))
    with pytest.raises(StateError) as destroy:
        stack.destroy()
    assert (server.applied, server.deleted) == ([], [])
    assert str(up.value) == str(destroy.value)
    return str(up.value)


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def scribble(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)


def misname(path: Path) -> None:
    """Put a byte that is no UTF-8 into the schema, which SQLite quotes in its message."""
    name = b"tableresourcesresources"
    assert name in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(name, b"table\x90esourcesresources"))


@pytest.mark.parametrize(
    ("damage", "words"),
    [(misname, "is damaged: it contains text that is not UTF-8"), (halve, "is damaged"),
     (scribble, "is damaged: file is not a database"), (Path.touch, ""),
     (lambda path: path.write_bytes(b""), "is empty, but stack 'dev' was deployed before"),
     (Path.unlink, "is empty, but stack 'dev' was deployed before")],
)  # fmt: skip
def test_a_damaged_file(deployed: Stack, server: StandIn, damage: Callable[[Path], Any], words: str) -> None:
    database, _ = files(deployed)
    damage(database)
    if not words:
        assert deployed.up(program_of(deployed, THINGS)).changed == 0
        return
    message = refused(deployed, server)
    assert message.startswith(f"{database}: {words}")
    assert "Restore the file from a backup" in message
    assert "the next `up` adopts the objects in the program" in message


def test_what_the_message_advises_works(deployed: Stack, server: StandIn) -> None:
    database, key = files(deployed)
    halve(database)
    for path in (database, Path(f"{database}-wal"), key):
        path.unlink(missing_ok=True)
    assert deployed.up(program_of(deployed, THINGS)).ok
    assert deployed.up(program_of(deployed, THINGS)).changed == 0
    assert server.deleted == []
    deployed.destroy()
    assert server.named("configmaps") == set()


@pytest.mark.parametrize("content", [b"", b"short", bytes(33)])
def test_a_key_that_is_none(deployed: Stack, server: StandIn, content: bytes) -> None:
    _, key = files(deployed)
    key.write_bytes(content)
    message = refused(deployed, server)
    assert message.startswith(f"{key}: must contain 32 bytes, found {len(content)}; delete it")
    key.unlink()
    assert deployed.up(program_of(deployed, THINGS)).ok


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("inputs", "{broken", "inputs is not JSON"),
        ("inputs", "[]", "inputs must be an object or null"),
        ("inputs", '{"kind": "ConfigMap"}', "inputs must be a Kubernetes object"),
        (
            "inputs",
            '{"apiVersion": "v1", "kind": 3, "metadata": {"name": "s"}}',
            "inputs must be a Kubernetes object",
        ),
        ("dependencies", '"urn"', "dependencies must be a list of URNs"),
        ("dependencies", "[1]", "dependencies must be a list of URNs"),
        ("options", "[]", "options must be an object"),
        ("options", '{"protect": "yes"}', "protect, retain and adopted must be true or false"),
        ("options", '{"deletedWith": 3}', "deletedWith and replacedBy must be URNs"),
        ("intent", "thinking", "'thinking' is not a valid Intent"),
        ("uid", b"\x00", "uid must be text, found bytes"),
    ],
)
def test_a_row_that_is_none(deployed: Stack, server: StandIn, column: str, value: object, words: str) -> None:
    database, _ = files(deployed)
    with sqlite3.connect(database) as db:
        db.execute(f"UPDATE resources SET {column} = ? WHERE urn LIKE '%::a'", (value,))
    db.close()
    message = refused(deployed, server)
    assert message.startswith(
        f"{database}: is damaged: resource urn:pulumi:dev::proj::kubernetes:core/v1:ConfigMap::a"
    )
    assert words in message


def test_the_state_of_another_stack(deployed: Stack, server: StandIn) -> None:
    """Copied or renamed by hand: compared with the program of this stack, all in it would be deleted."""
    database, _ = files(deployed)
    with sqlite3.connect(database) as db:
        db.execute("UPDATE resources SET urn = replace(urn, 'urn:pulumi:dev::', 'urn:pulumi:prod::')")
    db.close()
    message = refused(deployed, server)
    assert message.startswith(f"{database}: belongs to stack 'prod', not to 'dev': it contains urn:pulumi:prod::")
    assert "rename the file to prod.db" in message
    with pytest.raises(StateError, match="belongs to stack 'prod'"):
        deployed.preview(program_of(deployed, THINGS))
    with pytest.raises(StateError, match="belongs to stack 'prod'"):
        deployed.run("outputs")


def test_the_state_of_another_project(deployed: Stack, server: StandIn) -> None:
    database, _ = files(deployed)
    with sqlite3.connect(database) as db:
        db.execute("UPDATE resources SET urn = replace(urn, '::proj::', '::other::')")
    db.close()
    with pytest.raises(WorkbenchError, match="belongs to project 'other', not to 'proj': it contains urn:"):
        deployed.up(program_of(deployed, THINGS))
    assert (server.applied, server.deleted) == ([], [])


def test_facts_that_are_none(deployed: Stack) -> None:
    database, _ = files(deployed)
    with sqlite3.connect(database) as db:
        db.execute("UPDATE facts SET value = '{' WHERE key = 'outputs'")
    db.close()
    with pytest.raises(StateError, match="is damaged: fact outputs: "):
        deployed.run("outputs")


@pytest.fixture
def full(deployed: Stack, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets SQLite find the disk full: a limit on the pages of the file, which gives its own error."""
    connect = sqlite3.connect

    def limited(*args: Any, **options: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(*args, **options)
        made.execute("PRAGMA max_page_count = 1")  # SQLite takes what the file has already
        return made

    monkeypatch.setattr("workbench.engine.state.sqlite3.connect", limited)
    return monkeypatch.undo


def test_a_full_disk_stops_before_the_first_request_and_the_next_run_goes_on(
    deployed: Stack, server: StandIn, full: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {f"m{number}": Thing("ConfigMap", "team-a", f"m{number}", value="x" * 4000) for number in range(12)}
    with pytest.raises(StateError) as stopped:
        deployed.up(program_of(deployed, {**THINGS, **many}))
    database, _ = files(deployed)
    assert str(stopped.value).startswith(f"{database}: there is no space left; free some space.")
    full()
    monkeypatch.setattr("toolkit.kube.client.Transport", server)
    assert deployed.up(program_of(deployed, {**THINGS, **many})).ok
    assert server.named("configmaps") == {"team-a/s", *(f"team-a/m{number}" for number in range(12))}
    assert not any(row.intent for row in deployed.rows().values())
    assert server.deleted == []


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
@pytest.mark.parametrize("first", [True, False])
def test_a_folder_that_cannot_be_written(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, code: int, first: bool
) -> None:
    """The file system's answer is given by hand: tests may run as root, whom nothing is refused."""
    if not first:
        stack.up(program_of(stack, THINGS))

    def no(path: object, *_: object) -> int:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr("workbench.engine.state.os.open", no)
    with pytest.raises(StateError) as stopped:
        stack.up(program_of(stack, THINGS))
    lock = stack.folder / "stacks" / "dev.lock"
    reason = f"{os.strerror(code)}; the state of stack 'dev' cannot be stored there"
    assert str(stopped.value).startswith(f"{lock}: {reason}")


def test_a_file_in_place_of_the_folder(stack: Stack) -> None:
    (stack.folder / "stacks").write_text("")
    with pytest.raises(StateError, match="Not a directory"):
        stack.up(program_of(stack, THINGS))


def test_who_holds_the_lock_is_told(stack: Stack) -> None:
    with State(stack.folder / "stacks", "dev"), pytest.raises(WorkbenchError, match=rf"process \({os.getpid()}\) is"):
        stack.up(lambda: None)


def test_the_state_folder_is_its_owners_alone(tmp_path: Path) -> None:
    """Also one that an earlier version left open, and whatever the umask; what is above is not touched."""
    old = tmp_path / "old" / ".workbench"
    old.mkdir(parents=True)
    old.chmod(0o755)
    modes = {path: path.stat().st_mode for path in (tmp_path, old.parent)}
    umask = os.umask(0)
    try:
        private_folder(old / "stacks")
        private_folder(tmp_path / ".workbench" / "cluster" / "pki")
    finally:
        os.umask(umask)
    made = [old, old / "stacks", *(tmp_path / ".workbench").rglob("*"), tmp_path / ".workbench"]
    assert {path: path.stat().st_mode & 0o777 for path in made} == dict.fromkeys(made, 0o700)
    assert {path: path.stat().st_mode for path in modes} == modes


def test_the_state_can_be_closed_while_other_threads_write(tmp_path: Path) -> None:
    """A cancelled run closes the state under its workers. They get an exception; the process does not crash."""
    for _ in range(10):
        state = State(tmp_path, "dev")
        begun = threading.Barrier(4, timeout=60)
        ends: list[type[BaseException]] = []

        def write(state: State = state, begun: threading.Barrier = begun, ends: list[Any] = ends) -> None:
            begun.wait()
            try:
                while True:
                    state.set_fact("a", "x" * 20_000)
            except RuntimeError as error:
                ends.append(type(error))

        writers = [threading.Thread(target=write, daemon=True) for _ in range(3)]
        for writer in writers:
            writer.start()
        with state:
            begun.wait()
            time.sleep(0.01)
        for writer in writers:
            writer.join(timeout=60)
        assert ends == [RuntimeError] * 3
