"""Running a program under Pulumi's own mocks and keeping everything it registered, as plain data."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from workbench.engine.program.adapter import Run, run_program
from workbench.engine.program.resources import STACK_TYPE, Registration
from workbench.engine.program.wire import registration_of

PROJECT = "inference-platform"
STACK = "test"


@dataclass(frozen=True)
class Entry:
    """One registered resource. Other resources are named ``type::name``, as ``key`` is."""

    type: str
    name: str
    parent: str
    """Empty directly below the stack."""
    provider: str
    dependencies: tuple[str, ...]
    inputs: Mapping[str, Any]
    """Whole numbers are ints, nulls are gone; secrets are ``Secret(value)``, unknowns ``UNKNOWN``."""
    registration: Registration
    """The rest: aliases, protect, ignore_changes ..."""

    @property
    def key(self) -> str:
        return f"{self.type}::{self.name}"


@dataclass(frozen=True)
class Recorded:
    graph: tuple[Entry, ...]
    """In order of ``key``: mocks are called concurrently, so order of arrival means nothing."""
    exports: Mapping[str, Any]

    def __getitem__(self, key: str) -> Entry:
        """The entry with this key, or with this name if only one has it."""
        found = [entry for entry in self.graph if key in (entry.key, entry.name)]
        assert len(found) == 1, f"{key}: {[entry.key for entry in found] or self._near(key)}"
        return found[0]

    def _near(self, key: str) -> str:
        return f"none, but {get_close_matches(key, [entry.key for entry in self.graph])}"

    def of(self, type_: str) -> list[Entry]:
        return [entry for entry in self.graph if entry.type == type_]


class DuplicateUrnError(Exception):
    """The real engine refuses a second resource of the same URN; the mocks do not."""


class Recorder(mocks.MockMonitor):
    """Stock mocks, keeping each request."""

    def __init__(self, mock: mocks.Mocks) -> None:
        super().__init__(mock)
        self.requests: dict[str, Registration] = {}
        self._lock = threading.Lock()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """With all parents' types, as the real engine does: stock mocks keep only the last."""
        above = parent.split("::")[2] if parent else STACK_TYPE
        qualified = type_ if above == STACK_TYPE else f"{above}${type_}"
        return f"urn:pulumi:{STACK}::{PROJECT}::{qualified}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        if request.type != STACK_TYPE:
            urn = self.make_urn(request.parent, request.type, request.name)
            with self._lock:
                if urn in self.requests:
                    raise DuplicateUrnError(urn)
                self.requests[urn] = registration_of(request)
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


class Echo(mocks.Mocks):
    """Outputs are the inputs, ids are made of names, invokes are mistakes."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise AssertionError(f"invoke of {args.token}: everything must preview offline")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        return f"{args.name}-id", args.inputs


def deploy(
    program: Callable[[], Awaitable[None] | None],
    preview: bool = False,
    config: Mapping[str, str] | None = None,
    mock: mocks.Mocks | None = None,
) -> Recorded:
    """Run ``program`` in a fresh event loop; whatever it raises, also inside ``apply``, comes out."""
    recorder = Recorder(mock or Echo())
    run = Run(PROJECT, STACK, preview, {_key(key): value for key, value in (config or {}).items()})
    # Stock mocks wait inside a call; in a thread of their own they do not start the next call within it.
    loop = asyncio.new_event_loop()
    with closing(loop), ThreadPoolExecutor(1, initializer=asyncio.set_event_loop, initargs=(loop,)) as calls:
        exports = run_program(program, recorder, run, calls)
    entries = [_entry(registration) for registration in recorder.requests.values()]
    return Recorded(tuple(sorted(entries, key=lambda entry: entry.key)), exports)


def logged(monkeypatch: pytest.MonkeyPatch, severity: str) -> list[tuple[str, str]]:
    """Collect what is logged from now on: ``type::name`` of the resource, or nothing; and what it says."""
    found: list[tuple[str, str]] = []
    wanted = getattr(pulumi.log.engine_pb2, severity)  # type: ignore[attr-defined]

    def log(_engine: mocks.MockEngine, request: Any) -> None:
        if request.severity == wanted:
            found.append((key_of(request.urn), request.message))

    monkeypatch.setattr(mocks.MockEngine, "Log", log)
    return found


def _key(name: str) -> str:
    return name if ":" in name else f"{PROJECT}:{name}"


def _entry(registration: Registration) -> Entry:
    return Entry(
        type=registration.type,
        name=registration.name,
        parent=key_of(registration.parent),
        provider=key_of(registration.provider),
        dependencies=tuple(sorted(key_of(urn) for urn in registration.dependencies)),
        inputs=dict(registration.inputs),
        registration=registration,
    )


def key_of(urn: str) -> str:
    """``type::name`` of a URN, empty for the stack itself."""
    if not urn:
        return ""
    qualified, name = urn.split("::", 3)[2:]
    type_ = qualified.rsplit("$", 1)[-1]
    return "" if type_ == STACK_TYPE else f"{type_}::{name}"
