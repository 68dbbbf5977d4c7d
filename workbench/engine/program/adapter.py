"""Running a Pulumi program without the Pulumi CLI.

Only this module (mocks, stack and settings) and :mod:`.stand_ins` (types of outputs) use private parts of the Pulumi
SDK, and only :mod:`.wire` reads the protocol of the resource monitor. ``tests/engine/test_program.py`` verifies that
the SDK still works as expected.
"""

import asyncio
import contextlib
import gc
import logging
import runpy
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pulumi
from pulumi.runtime import mocks, resource, rpc, settings
from pulumi.runtime.config import set_all_config
from pulumi.runtime.proto import resource_pb2, source_pb2
from pulumi.runtime.stack import Stack, run_pulumi_func, wait_for_rpcs

from components.contract.collection import paused_collection
from components.contract.texts.printable import printable_lines
from components.contract.texts.secrets import masked_text

from ..values import UNKNOWN, Secret
from .resources import Registration, provider_urn
from .stand_ins import StandIns
from .wire import properties_of, registration_of


class _StderrHandler(logging.Handler):
    """Writes log records to stderr, each with its level in front, like the Pulumi CLI."""

    secrets: frozenset[str] = frozenset()
    unlogged: Collection[str] = ()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() in self.unlogged:
            return
        text = printable_lines(masked_text(record.getMessage(), self.secrets))
        print(f"{record.levelname.lower()}: {text}", file=sys.stderr)  # noqa: T201


_HANDLER = _StderrHandler(logging.INFO)


def program_logger(secrets: frozenset[str]) -> logging.Logger:
    """Return the logger for ``pulumi.log``, which masks the secrets."""
    _HANDLER.secrets = secrets
    logger = logging.getLogger("pulumi")
    logger.setLevel(logging.INFO)
    logger.addHandler(_HANDLER)  # a no-op if it was added before
    return logger


@contextlib.contextmanager
def unlogged(messages: Collection[str]) -> Iterator[None]:
    """Leave messages out of the log, because the caller prints them; the collection may grow."""
    _HANDLER.unlogged = messages
    try:
        yield
    finally:
        _HANDLER.unlogged = ()


Program = Callable[[], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class Run:
    """The parameters of a program run."""

    project: str
    stack: str
    preview: bool = False
    config: Mapping[str, str] = field(default_factory=dict)
    secret_keys: tuple[str, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Decrypted secrets of the configuration, to mask them in the log."""
    organization: str = "organization"


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a registration."""

    urn: str
    id: str = ""
    unknown: bool = False
    """Whether the resource has outputs other than its inputs, which are unknown."""
    outputs: Mapping[str, Any] | None = None
    """The outputs of a resource that exists elsewhere; None if they are its inputs."""


class Registrar(Protocol):
    """Accepts or rejects registrations."""

    def register(self, registration: Registration) -> Answer:
        """Add a resource."""

    def read(self, registration: Registration, id_: str) -> Answer:
        """Add a resource that exists elsewhere."""

    def invoke(self, token: str) -> None:
        """Reject a provider function."""


class Monitor(mocks.MockMonitor):
    """A resource monitor that passes registrations to a registrar and returns inputs as outputs.

    Args:
        registrar: Accepts or rejects registrations.
        stand_ins: Provides values for unknown outputs; without it they stay unknown.
    """

    def __init__(self, registrar: Registrar, stand_ins: StandIns | None = None) -> None:
        super().__init__(_NoMocks())
        self._registrar = registrar
        self._stand_ins = stand_ins

    def RegisterResource(self, request: Any) -> Any:  # noqa: ANN401, N802 - Pulumi's name and type
        answer = self._registrar.register(registration_of(request))
        response = resource_pb2.RegisterResourceResponse(urn=answer.urn, id=answer.id)
        if request.custom:
            response.object.CopyFrom(request.object)
            response.unknown = answer.unknown
            if self._stand_ins and answer.unknown:
                self._stand_ins.add(response, request.type, answer.urn)
        return response

    def ReadResource(self, request: Any) -> Any:  # noqa: ANN401, N802
        registration = Registration(
            type=request.type,
            name=request.name,
            parent=request.parent,
            inputs=properties_of(request.properties),
            provider=provider_urn(request.provider),
            dependencies=tuple(sorted(request.dependencies)),
            is_read=True,
        )
        answer = self._registrar.read(registration, request.id)
        response = resource_pb2.ReadResourceResponse(urn=answer.urn, properties=request.properties)
        if answer.outputs is not None:
            response.properties.update(dict(answer.outputs))
        return response

    def Invoke(self, request: Any) -> Any:  # noqa: ANN401, N802
        """Answer ``getResource`` for resources of this program, and reject all other functions."""
        if request.tok == "pulumi:pulumi:getResource":
            return super().Invoke(request)  # type: ignore[no-untyped-call]
        self._registrar.invoke(request.tok)
        raise AssertionError(request.tok)

    def Call(self, request: Any) -> Any:  # noqa: ANN401, N802
        """Reject a method of a resource."""
        self._registrar.invoke(request.tok)
        raise AssertionError(request.tok)


class _NoMocks(mocks.Mocks):
    """Never called: :class:`Monitor` answers every request without mocks."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise AssertionError(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        raise AssertionError(args.typ)


class _SynchronousExecutor(ThreadPoolExecutor):
    """Runs calls synchronously: they take microseconds, and the order of registrations stays deterministic."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def run_program(
    program: Program, monitor: mocks.MockMonitor, run: Run, executor: Executor | None = None
) -> dict[str, Any]:
    """Run a program in a new event loop, and return its exports.

    Exports are properties_of values; unknown ones are ``UNKNOWN``, secret ones ``Secret``.
    """
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        # The first failure is raised; its consequences would each be logged with a traceback.
        loop.set_exception_handler(lambda *_: None)
        loop.set_default_executor(executor if isinstance(executor, ThreadPoolExecutor) else _SynchronousExecutor())
        # Registrations live until the end, and collecting took half of the time.
        with paused_collection(), _without_stack_traces():
            return loop.run_until_complete(_exports(program, monitor, run))
    finally:
        loop.run_until_complete(_cancel_tasks())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        asyncio.set_event_loop(None)


@contextlib.contextmanager
def _without_stack_traces() -> Iterator[None]:
    """Spare the SDK the stack trace of each registration: only the Pulumi CLI reads it."""
    original = resource._get_stack_trace  # noqa: SLF001
    resource._get_stack_trace = source_pb2.StackTrace  # noqa: SLF001
    try:
        yield
    finally:
        resource._get_stack_trace = original  # noqa: SLF001


async def _cancel_tasks() -> None:
    """Cancel the tasks of a failed program, so that closing the loop logs nothing."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _exports(program: Program, monitor: mocks.MockMonitor, run: Run) -> dict[str, Any]:
    settings.ROOT.set(None)
    settings.SETTINGS.outputs.clear()  # outputs of a failed run belong to a closed loop
    set_all_config(dict(run.config), list(run.secret_keys))
    mocks.set_mocks(
        mocks=monitor.mocks,
        project=run.project,
        stack=run.stack,
        preview=run.preview,
        logger=program_logger(run.secrets),
        monitor=monitor,
        organization=run.organization,
    )
    root = settings.get_root_resource()
    if not isinstance(root, Stack):
        raise TypeError(root)
    root._async_program_registration_closed = False  # noqa: SLF001 - set_mocks assumes that the program is over

    async def body() -> None:
        registering = program()
        if registering is not None:
            await registering
        entry = root._take_async_program()  # noqa: SLF001 - set by pulumi.run()
        if entry is not None:
            root._add_program_outputs(await entry())  # noqa: SLF001
        await _await_outputs()

    await run_pulumi_func(body)
    return {name: await _resolve(value) for name, value in root.outputs.items()}


async def _await_outputs() -> None:
    """Wait until all outputs are resolved, or one fails.

    The SDK would wait next, but it checks all outstanding outputs again whenever one resolves: with thousands of
    resources, that takes longer than the program.
    """
    while True:
        await wait_for_rpcs(await_all_outstanding_tasks=False)
        pending = [task for task in settings.SETTINGS.outputs if not task.done()]
        if not pending:
            return
        done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
        if any(task.cancelled() or task.exception() for task in done):
            return


async def _resolve(value: Any) -> Any:  # noqa: ANN401 - any exported value
    """Return the properties_of value of an export; in a structure, only single leaves are unknown, as in the CLI."""
    if isinstance(value, dict):
        return {key: await _resolve(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [await _resolve(item) for item in value]
    output = pulumi.Output.from_input(value)
    resolved = await output.future(with_unknowns=True)
    known = await output.is_known() and not rpc.contains_unknowns(resolved)
    if not known:
        return UNKNOWN
    return Secret(_numbers(resolved)) if await output.is_secret() else _numbers(resolved)


def _numbers(value: Any) -> Any:  # noqa: ANN401
    """Convert integral floats back to int; the protocol only has floats."""
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def program_at(folder: Path, main: str = "") -> Program:
    """Return the program of a project folder, run as the Pulumi CLI runs it."""
    path = (folder / (main or ".")).resolve()
    script = path / "__main__.py" if path.is_dir() else path

    def program() -> None:
        original_path, collects = list(sys.path), gc.isenabled()
        sys.path.insert(0, str(script.parent))
        try:
            with contextlib.chdir(folder):  # like the CLI
                runpy.run_path(str(script), run_name="__main__")
        finally:
            sys.path[:] = original_path
            if collects:  # a program owns its process under the CLI, and may turn the collector off
                gc.enable()

    return program
