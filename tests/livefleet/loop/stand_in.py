"""A stand-in for the process behind the pods: it tells Prometheus where pods answer, to who has its token."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from livefleet.loop.monitors import targets_of
from tests.monitoring.simulated.exporter import PretendedPod
from toolkit.ports import LOOPBACK

Json = dict[str, Any]
TOKEN = "only-for-prometheus"


@dataclass
class ToldTargets:
    """What it tells, by the name of a PodMonitor; to be changed by the test."""

    url: str
    exporter: str
    jobs: dict[str, list[Json]] = field(default_factory=dict)

    def tell(self, job: str, *pods: tuple[Mapping[str, Any], PretendedPod]) -> None:
        """Say that these pods, as the API server shows them, answer where the exporter plays them."""
        self.jobs[job] = [
            {**target, "labels": {**target["labels"], "__metrics_path__": played.path}}
            for pod, played in pods
            for target in targets_of(pod, self.exporter)
        ]


@contextmanager
def telling(exporter: str) -> Iterator[ToldTargets]:
    """Serve on a free port of loopback."""
    with ThreadingHTTPServer((LOOPBACK, 0), BaseHTTPRequestHandler) as server:
        targets = ToldTargets(f"http://{LOOPBACK}:{server.server_port}", exporter)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                job = targets.jobs.get(self.path.removeprefix("/targets/"))
                allowed = self.headers["Authorization"] == f"Bearer {TOKEN}"
                self.send_response((404 if job is None else 200) if allowed else 401)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(job if allowed else None).encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing of each request."""

        server.RequestHandlerClass = Handler
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield targets
        finally:
            server.shutdown()
            thread.join()
