"""What was applied, in SQLite: one transaction per step, the intent before the call, the result after."""

import enum
import fcntl
import json
import os
import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import WorkbenchError

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
    urn TEXT PRIMARY KEY, type TEXT NOT NULL, parent TEXT NOT NULL, provider TEXT NOT NULL,
    cluster TEXT NOT NULL, uid TEXT NOT NULL, intent TEXT NOT NULL, inputs TEXT NOT NULL,
    dependencies TEXT NOT NULL, options TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class Intent(enum.StrEnum):
    """What was begun with a resource and not finished."""

    SETTLED = ""
    """Nothing."""
    CREATING = "creating"
    UPDATING = "updating"
    REPLACING = "replacing"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class StateRow:
    """One resource as it was last applied."""

    urn: str
    type: str
    parent: str = ""
    provider: str = ""
    cluster: str = ""
    """uid of the cluster's kube-system namespace: a new cluster at an old address has none of this."""
    uid: str = ""
    """uid of the object; empty until the API server has answered."""
    intent: Intent = Intent.SETTLED
    inputs: Mapping[str, Any] | None = None
    """Last inputs, secrets sealed."""
    dependencies: tuple[str, ...] = ()
    protect: bool = False
    retain: bool = False
    deleted_with: str = ""
    adopted: bool = False
    """Whether somebody else's object was there before; it is left standing when the stack goes."""
    replaced_by: str = ""
    """URN of the resource whose new object took the place of this one, which is deleted last."""

    def settled(self, uid: str) -> "StateRow":
        """Return the row after its step succeeded."""
        return replace(self, uid=uid, intent=Intent.SETTLED)


class State:
    """The state of one stack. Use as a context manager: it holds the stack's lock."""

    def __init__(self, folder: Path, stack: str) -> None:
        self._path = folder / f"{stack}.db"
        self._stack = stack
        self._lock = threading.Lock()
        self._guard: int | None = None
        self._db: sqlite3.Connection | None = None
        self.key = b""

    def __enter__(self) -> "State":
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._guard = os.open(self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._guard)
            raise WorkbenchError(
                f"another process is using stack {self._stack!r}; wait until it is done, then try again"
            ) from None
        self.key = self._sealing_key()
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.executescript(_SCHEMA)
        self._db = db
        self._check_version()
        return self

    def __exit__(self, *_: object) -> None:
        if self._db:
            self._db.close()
        if self._guard is not None:
            os.close(self._guard)  # releases the lock

    def _sealing_key(self) -> bytes:
        path = self._path.with_suffix(".key")
        if not path.exists():
            draft = path.with_suffix(".key.new")
            handle = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(32))
            draft.rename(path)
        return path.read_bytes()

    def _check_version(self) -> None:
        found = self.fact("version")
        if found is None:
            self.set_fact("version", _VERSION)
        elif found != _VERSION:
            raise WorkbenchError(
                f"{self._path} was written by another version of the workbench (format {found}; this version reads "
                f"{_VERSION}); use that version, or destroy the stack with it first"
            )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One step, whole or not at all; a kill in the middle leaves the step before."""
        if self._db is None:
            raise RuntimeError("the state is not open")
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self) -> dict[str, StateRow]:
        """Return everything, by URN."""
        with self._transaction() as db:
            return {found[0]: _row(found) for found in db.execute("SELECT * FROM resources ORDER BY urn")}

    def write(self, rows: Iterable[StateRow]) -> None:
        """Write rows in one transaction."""
        values = [_values(row) for row in rows]
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO resources VALUES (?,?,?,?,?,?,?,?,?,?)", values)

    def rename(self, old: str, row: StateRow) -> None:
        """Let a row go on under another URN."""
        with self._transaction() as db:
            db.execute("DELETE FROM resources WHERE urn = ?", (old,))
            db.execute("INSERT OR REPLACE INTO resources VALUES (?,?,?,?,?,?,?,?,?,?)", _values(row))

    def forget(self, urns: Iterable[str]) -> None:
        """Remove rows in one transaction."""
        with self._transaction() as db:
            db.executemany("DELETE FROM resources WHERE urn = ?", [(urn,) for urn in urns])

    def fact(self, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return a stored value, None when there is none."""
        with self._transaction() as db:
            found = db.execute("SELECT value FROM facts WHERE key = ?", (key,)).fetchone()
        return json.loads(found[0]) if found else None

    def set_fact(self, key: str, value: object) -> None:
        """Store a value."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (key, json.dumps(value)))


def _values(row: StateRow) -> tuple[str, ...]:
    options = {
        "protect": row.protect,
        "retain": row.retain,
        "deletedWith": row.deleted_with,
        "adopted": row.adopted,
        "replacedBy": row.replaced_by,
    }
    return (
        row.urn, row.type, row.parent, row.provider, row.cluster, row.uid, row.intent.value,
        json.dumps(row.inputs), json.dumps(row.dependencies), json.dumps(options),
    )  # fmt: skip


def _row(found: tuple[str, ...]) -> StateRow:
    urn, type_, parent, provider, cluster, uid, intent, inputs, dependencies, options = found
    option = json.loads(options)
    return StateRow(
        urn, type_, parent, provider, cluster, uid, Intent(intent),
        json.loads(inputs), tuple(json.loads(dependencies)),
        option["protect"], option["retain"], option["deletedWith"], option["adopted"],
        option.get("replacedBy", ""),
    )  # fmt: skip
