"""A stand-in for the process behind the pods: it serves the state that a test wants, and notes what it is asked."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from livefleet.control_api import FleetNote, GroupState, LiveState, ModelState, NoteKind, PodState, ScalerState
from livefleet.fleet import LiveFleet, PaceSource, ServedEndpoint, ServedWorkload, Speaks, Startup, TokenPace
from livefleet.folder import LiveFolder

TOKEN = "token-of-the-test"


_MODEL = ModelState(
    title="chat",
    model="qwen",
    replicas=2,
    ready=2,
    starting=0,
    pending=0,
    waiting=0,
    running=0,
    cache=0.0,
    answered=0,
    refused=0,
    tokens=0,
    usd_per_hour=2.0,
    pace=PaceSource.ESTIMATE,
)
_GROUP = GroupState("g6-xlarge", "g6.xlarge", nodes=2, starting=0, least=0, most=8, usd_per_hour=1.0)
_POD = PodState("models/chat-1", "chat", "g6-1", "a", spot=False, ready=True, waiting=0, running=0)
_SCALER = ScalerState("models/chat", current=2, desired=4, least=1, most=8)
_WORKLOAD = ServedWorkload(
    namespace="models",
    kind="Deployment",
    name="chat",
    title="chat",
    selector={"app": "chat"},
    container="engine",
    engine="vllm",
    version="0.8.5",
    speaks=Speaks.OPENAI,
    port=8000,
    models=("qwen",),
    loaded="qwen",
    paces={"": TokenPace(0.01, 0.001, 0.0001, 64)},
    startup=Startup(30, 60),
)


def model(title: str = "chat", **given: Any) -> ModelState:
    return replace(_MODEL, title=title, **given)


def group(name: str = "g6-xlarge", **given: Any) -> GroupState:
    return replace(_GROUP, name=name, **given)


def pod(name: str = "models/chat-1", **given: Any) -> PodState:
    return replace(_POD, name=name, **given)


def state(**given: Any) -> LiveState:
    whole = LiveState(time.time(), 1.0, 60.0, (model(),), (group(),), 2.0, (pod(),))
    return replace(whole, **given)


def note(text: str, kind: NoteKind = NoteKind.NODE, at: float = 0.0) -> FleetNote:
    return FleetNote(at or time.time(), kind, text)


def scaler(**given: Any) -> ScalerState:
    return replace(_SCALER, **given)


def workload(title: str = "chat", name: str = "", **given: Any) -> ServedWorkload:
    return replace(_WORKLOAD, title=title, name=name or title, **given)


def endpoint(title: str = "chat", model: str = "qwen", *behind: str) -> ServedEndpoint:
    """An endpoint of a model; without names, before the workload of the same name."""
    workloads = {f"models/{each}": 1.0 for each in behind or (title,)}
    return ServedEndpoint(title, model, "openai", f"http://{title}.models/v1", workloads)


@dataclass
class StandIn:
    """What is served, and what was asked."""

    state: LiveState
    port: int = 0
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
    """Status and body by path, for what is no state."""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    told: int = 0
    """Answers that were sent."""
    pause: float = 0.0
    """Seconds before each answer."""
    text: str = ""
    """Served instead of the state."""
    stop: Callable[[], None] = lambda: None
    """End the server."""

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        self.asked.append((path, body))
        if path == "/state":
            return 200, asdict(self.state)
        return self.answers.get(path, (404, {"error": f"no path {path}"}))


@contextmanager
def control(first: LiveState) -> Iterator[StandIn]:
    """Serve a state on loopback, to whoever has the token."""
    found = StandIn(first)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: Any) -> None:
            time.sleep(found.pause)
            known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            status, answer = found.answer(self.path, body) if known else (401, {"error": "wrong token"})
            content = (found.text if found.text and known else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            found.told += 1

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.port = server.server_port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()

        def stop() -> None:
            server.shutdown()
            thread.join()
            server.server_close()

        found.stop = stop
        try:
            yield found
        finally:
            stop()


def project(path: Path, served: StandIn | None, fleet: LiveFleet | None = None, **addresses: Any) -> LiveFolder:
    """Write what a live fleet leaves in a project."""
    folder = LiveFolder(path / ".workbench")
    folder.make()
    if fleet:
        folder.write_fleet(fleet)
    if served:
        folder.write_addresses("pods", control=f"http://127.0.0.1:{served.port}", token=TOKEN, **addresses)
    return folder
