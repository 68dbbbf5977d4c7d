"""The state of a stack in SQLite: each step stores its intent before the API call, and the result after it."""

import enum
import fcntl
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolkit.private import private_folder

from ..errors import WorkbenchError


class Intent(enum.StrEnum):
    """An operation on a resource that was begun, but not completed."""

    SETTLED = ""
    """None."""
    CREATING = "creating"
    IMPORTING = "importing"
    UPDATING = "updating"
    REPLACING = "replacing"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class StateRow:
    """A resource as it was last applied."""

    urn: str
    type: str
    parent: str = ""
    provider: str = ""
    cluster: str = ""
    """uid of the kube-system namespace, which tells a new cluster from an old one at the same address."""
    uid: str = ""
    """uid of the object; empty until it is created."""
    intent: Intent = Intent.SETTLED
    inputs: Mapping[str, Any] | None = None
    """Last inputs, secrets sealed."""
    dependencies: tuple[str, ...] = ()
    protect: bool = False
    retain: bool = False
    deleted_with: str = ""
    adopted: bool = False
    """Whether the object existed before the stack; a destroy does not delete it."""
    replaced_by: str = ""
    """URN of the resource that replaces this former object, which is deleted last."""

    def settled(self, uid: str) -> "StateRow":
        """Return the row after its operation is completed."""
        return replace(self, uid=uid, intent=Intent.SETTLED)


def values_of(row: StateRow) -> tuple[str, ...]:
    """Return the column values of a row."""
    options = {
        "protect": row.protect,
        "retain": row.retain,
        "deletedWith": row.deleted_with,
        "adopted": row.adopted,
        "replacedBy": row.replaced_by,
    }
    return (
        row.urn,
        row.type,
        row.parent,
        row.provider,
        row.cluster,
        row.uid,
        row.intent.value,
        json.dumps(row.inputs),
        json.dumps(row.dependencies),
        json.dumps(options),
    )


def row_in(columns: Sequence[object]) -> StateRow:
    """Parse and validate a stored row.

    Raises:
        ValueError: a column is invalid; the message says what it must contain.
    """
    for name, value in zip(_COLUMNS, columns, strict=True):
        _check(isinstance(value, str), f"{name} must be text, found {type(value).__name__}")
    urn, type_, parent, provider, cluster, uid, intent, *rest = map(str, columns)
    if urn.count("::") < _URN_PARTS - 1:
        raise ValueError("its URN has too few parts")
    values: list[Any] = []
    for column, text in zip(_COLUMNS[-3:], rest, strict=True):
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{column} is not JSON: {error}") from None
    inputs, dependencies, options = values
    _check(inputs is None or isinstance(inputs, dict), "inputs must be an object or null")
    if cluster and inputs is not None:
        meta = inputs.get("metadata")
        identity = [inputs.get("apiVersion"), inputs.get("kind"), meta.get("name") if isinstance(meta, dict) else ""]
        _check(isinstance(meta, dict) and _are_strings(identity), "inputs must be a Kubernetes object")
    _check(_are_strings(dependencies), "dependencies must be a list of URNs")
    _check(isinstance(options, dict), "options must be an object")
    flags = [options.get(name, False) for name in ("protect", "retain", "adopted")]
    _check(all(isinstance(flag, bool) for flag in flags), "protect, retain and adopted must be true or false")
    urns = [options.get(name, "") for name in ("deletedWith", "replacedBy")]
    _check(_are_strings(urns), "deletedWith and replacedBy must be URNs")
    return StateRow(
        urn=urn,
        type=type_,
        parent=parent,
        provider=provider,
        cluster=cluster,
        uid=uid,
        intent=Intent(intent),
        inputs=inputs,
        dependencies=tuple(dependencies),
        protect=flags[0],
        retain=flags[1],
        adopted=flags[2],
        deleted_with=urns[0],
        replaced_by=urns[1],
    )


def _check(is_valid: object, requirement: str) -> None:
    if not is_valid:
        raise ValueError(requirement)


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_COLUMNS = (
    "urn", "type", "parent", "provider", "cluster", "uid", "intent", "inputs", "dependencies", "options",
)  # fmt: skip
_URN_PARTS = 4
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    urn TEXT PRIMARY KEY, type TEXT NOT NULL, parent TEXT NOT NULL, provider TEXT NOT NULL,
    cluster TEXT NOT NULL, uid TEXT NOT NULL, intent TEXT NOT NULL, inputs TEXT NOT NULL,
    dependencies TEXT NOT NULL, options TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


_KEY_BYTES = 32
_NO_COPY = (
    "Restore the file from a backup. If there is none, delete {files}: the next `up` adopts the objects in the "
    "program, and objects that it no longer contains stay in the cluster. Nothing was changed."
)
_RESUMES = "Completed changes are recorded; run the same command again to resume the others."
_ADVICE = {
    "full": f"there is no space left; free some space. {_RESUMES}",
    "readonly": f"the file is not writable; make the file and its folder writable. {_RESUMES}",
    "disk I/O": f"the disk cannot be read or written. {_RESUMES}",
    "locked": "another program is using the file; stop it, then try again",
}
"""Advice by a part of SQLite's error message."""


class StateError(WorkbenchError):
    """The state cannot be read or written, so the operation must stop."""


class State:
    """The state of a stack. As a context manager, holds the lock of the stack."""

    def __init__(self, folder: Path, stack: str) -> None:
        self._path = folder / f"{stack}.db"
        self._stack = stack
        self._lock = threading.Lock()
        self._lock_file: int | None = None
        self._db: sqlite3.Connection | None = None
        self.key = b""

    @property
    def exists(self) -> bool:
        """Whether there is a file."""
        return self._path.exists()

    def __enter__(self) -> "State":
        try:
            private_folder(self._path.parent)
            self._take_lock()
            self._open()
            self.key = self._sealing_key()
        except OSError as error:
            self.__exit__()
            raise StateError(
                f"{error.filename or self._path}: {error.strerror}; the state of stack {self._stack!r} cannot be "
                f"stored there. Nothing was changed."
            ) from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # A cancelled run leaves the block while its workers still write, and SQLite crashes if a connection is closed
        # during a statement of another thread.
        with self._lock:
            if self._db:
                self._db.close()
            self._db = None
        if self._lock_file is not None:
            os.close(self._lock_file)  # releases the lock
        self._lock_file = None

    def _take_lock(self) -> None:
        self._lock_file = os.open(self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._lock_file, 20).decode(errors="replace")
            raise WorkbenchError(
                f"another process{f' ({holder})' if holder.isdigit() else ''} is using stack {self._stack!r}; wait "
                "until it is done, then try again"
            ) from None
        os.truncate(self._lock_file, 0)
        os.write(self._lock_file, str(os.getpid()).encode())

    def _open(self) -> None:
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        with self._explained():
            self._db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("PRAGMA secure_delete=ON")  # erase secrets that earlier versions stored in clear text
            result = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if result != "ok":
                raise sqlite3.DatabaseError(result)
            self._db.executescript(_SCHEMA)
        self._check_version()
        self._check_owner()

    def _sealing_key(self) -> bytes:
        path = self._path.with_suffix(".key")
        if not path.exists():
            draft = path.with_suffix(".key.new")
            handle = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            draft.rename(path)
        key = path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise StateError(
                f"{path}: must contain {_KEY_BYTES} bytes, found {len(key)}; delete it: the next `up` creates a new "
                "one and applies every secret again. Nothing was changed."
            )
        return key

    def _check_version(self) -> None:
        version = self.fact("version")
        key = self._path.with_suffix(".key")
        if version is None and key.exists():  # the key is created after the version
            raise StateError(
                f"{self._path}: is empty, but stack {self._stack!r} was deployed before: the file was truncated or "
                f"deleted. {_NO_COPY.format(files=key)}"
            )
        if version is None:
            self.set_fact("version", _VERSION)
        elif version != _VERSION:
            raise WorkbenchError(
                f"{self._path} was written by another version of the workbench (format {version}; this version "
                f"supports {_VERSION}); use that version, or destroy the stack with it first"
            )

    def _check_owner(self) -> None:
        """Reject the state of another stack, all of whose resources would be deleted."""
        own = f"urn:pulumi:{self._stack}::"
        with self._transaction() as db:
            query = "SELECT urn FROM resources WHERE substr(urn, 1, ?) != ? LIMIT 1"
            foreign = db.execute(query, (len(own), own)).fetchone()
        if foreign:
            other = str(foreign[0]).removeprefix("urn:pulumi:").partition("::")[0]
            raise StateError(
                f"{self._path}: belongs to stack {other!r}, not to {self._stack!r}: it contains {foreign[0]}. "
                f"Restore the state of {self._stack!r}, or rename the file to {other}.db, together with its key. "
                "Nothing was changed."
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in a transaction, which is rolled back if the process is killed."""
        with self._lock, self._explained():
            if self._db is None:
                raise RuntimeError("the state is not open")
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # SQLite rolls back by itself when the disk is full
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Convert SQLite errors to messages with the file and advice."""
        try:
            yield
        except sqlite3.Error as error:
            for cause, advice in _ADVICE.items():
                if cause in str(error):
                    raise StateError(f"{self._path}: {advice}") from None
            raise self._damaged(str(error)) from None
        except UnicodeDecodeError:
            # Python decodes the names in SQLite's own messages, which are those of the damaged file.
            raise self._damaged("it contains text that is not UTF-8") from None

    def _damaged(self, reason: str) -> StateError:
        files = f"{self._path}, {self._path}-wal and {self._path.with_suffix('.key')}"
        return StateError(f"{self._path}: is damaged: {reason}. {_NO_COPY.format(files=files)}")

    def rows(self) -> dict[str, StateRow]:
        """Return all resources by URN."""
        with self._transaction() as db:
            stored = db.execute("SELECT * FROM resources ORDER BY urn").fetchall()
        rows = {}
        for columns in stored:
            try:
                rows[columns[0]] = row_in(columns)
            except ValueError as error:
                raise self._damaged(f"resource {columns[0]}: {error}") from None
        return rows

    def write(self, rows: Iterable[StateRow]) -> None:
        """Write rows in one transaction."""
        values = [values_of(row) for row in rows]
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO resources VALUES (?,?,?,?,?,?,?,?,?,?)", values)

    def rename(self, old: str, row: StateRow) -> None:
        """Move a row to a new URN."""
        with self._transaction() as db:
            db.execute("DELETE FROM resources WHERE urn = ?", (old,))
            db.execute("INSERT OR REPLACE INTO resources VALUES (?,?,?,?,?,?,?,?,?,?)", values_of(row))

    def forget(self, urns: Iterable[str]) -> None:
        """Remove rows in one transaction."""
        with self._transaction() as db:
            db.executemany("DELETE FROM resources WHERE urn = ?", [(urn,) for urn in urns])

    def fact(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return a stored value; None without one."""
        with self._transaction() as db:
            row = db.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
        try:
            return json.loads(row[0]) if row else None
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(f"fact {key}: {error}") from None

    def set_fact(self, key: str, value: object) -> None:
        """Store a value."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, json.dumps(value)))
