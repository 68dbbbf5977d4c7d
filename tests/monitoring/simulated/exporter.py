"""A stand-in for every pod that is scraped: one server on loopback, one path and one target per pretended pod."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.monitoring.simulated.engines import GAUGE, HISTOGRAM, Engine
from toolkit.ports import LOOPBACK

Json = dict[str, Any]
Labels = tuple[tuple[str, str], ...]
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass
class PretendedPod:
    """A pod as Prometheus sees it: where it is, and what its ``/metrics`` says at this moment.

    As in an idle engine, gauges are there from the start, counters and histograms from the first request on.
    """

    engine: Engine
    namespace: str
    name: str
    container: str = "server"
    endpoint: str = "http"
    address: str = LOOPBACK
    values: dict[str, dict[Labels, float]] = field(default_factory=dict, init=False)
    observed: dict[str, dict[Labels, list[float]]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if None not in self.engine.labels.values():
            for name, kind in self.engine.metrics.items():
                if kind == GAUGE:
                    self.set(name, 0)

    @property
    def path(self) -> str:
        return f"/{self.namespace}/{self.name}/metrics"

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge or counter.

        Raises:
            KeyError: the engine exports no such metric; a slip in a test must not go unnoticed.
        """
        if self.engine.metrics[name] == HISTOGRAM:
            raise KeyError(f"{name} is a histogram: observe it")
        self.values.setdefault(name, {})[self._labels(labels)] = value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add an observation to a histogram.

        Raises:
            KeyError: the engine exports no such histogram.
        """
        if self.engine.metrics[name] != HISTOGRAM:
            raise KeyError(f"{name} is no histogram: set it")
        self.observed.setdefault(name, {}).setdefault(self._labels(labels), []).append(value)

    def forget(self, name: str) -> None:
        """Stop exporting a metric, as an engine of another version does."""
        self.values.pop(name, None)
        self.observed.pop(name, None)

    def target(self, exporter: str) -> Json:
        """The static_configs entry with the labels that a PodMonitor's relabelling leaves on a target."""
        return {
            "targets": [exporter],
            "labels": {
                "__metrics_path__": self.path,
                "namespace": self.namespace,
                "pod": self.name,
                "container": self.container,
                "endpoint": self.endpoint,
                "instance": f"{self.address}:{self.engine.port}",
            },
        }

    def text(self) -> str:
        """The text exposition format."""
        lines = []
        for name, kind in self.engine.metrics.items():
            samples = list(self._samples(name))
            if samples:
                lines += [f"# HELP {name} {name}", f"# TYPE {name} {kind}", *samples]
        return "\n".join([*lines, ""])

    def _samples(self, name: str) -> Iterator[str]:
        # Copies: the test goes on setting values while a scrape reads them in another thread.
        for labels, value in list(self.values.get(name, {}).items()):
            yield _sample(name, labels, value)
        for labels, values in list(self.observed.get(name, {}).items()):
            for bound in BUCKETS:
                below = sum(value <= bound for value in values)
                yield _sample(f"{name}_bucket", (*labels, ("le", str(bound))), below)
            yield _sample(f"{name}_bucket", (*labels, ("le", "+Inf")), len(values))
            yield _sample(f"{name}_sum", labels, sum(values))
            yield _sample(f"{name}_count", labels, len(values))

    def _labels(self, given: dict[str, str]) -> Labels:
        """Every label of the engine, with the value given or its own."""
        unknown = given.keys() - self.engine.labels.keys()
        if unknown:
            raise KeyError(f"{self.engine.name} has no labels {sorted(unknown)}")
        merged = {**self.engine.labels, **given}
        missing = [label for label, value in merged.items() if value is None]
        if missing:
            raise KeyError(f"{self.engine.name} needs values for the labels {missing}")
        return tuple((label, str(value)) for label, value in merged.items())


def _sample(name: str, labels: Labels, value: float) -> str:
    quoted = ((label, text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")) for label, text in labels)
    shown = ",".join(f'{label}="{text}"' for label, text in quoted)
    return f"{name}{{{shown}}} {value}"


class Exporter:
    """The server. Values set on a pod are what the next scrape of it sees."""

    def __init__(self, port: int) -> None:
        self.address = f"{LOOPBACK}:{port}"
        self._pods: dict[str, PretendedPod] = {}

    def pod(self, engine: Engine, namespace: str, name: str, **more: str) -> PretendedPod:
        """Add a pod; ``more`` are its container, endpoint and address."""
        pod = PretendedPod(engine, namespace, name, **more)
        self._pods[pod.path] = pod
        return pod

    def remove(self, pod: PretendedPod) -> None:
        """End a pod: its path is gone, and so is its target."""
        self._pods.pop(pod.path, None)

    @property
    def pods(self) -> Sequence[PretendedPod]:
        """The pods of this moment."""
        return tuple(self._pods.values())

    def targets(self) -> list[Json]:
        """One entry for static_configs, or for a file_sd file, per pod."""
        return [pod.target(self.address) for pod in self.pods]

    def page(self, path: str) -> str | None:
        """What a scrape of ``path`` gets; None where there is no pod."""
        pod = self._pods.get(path)
        return pod.text() if pod else None


@contextmanager
def serving() -> Iterator[Exporter]:
    """Serve on a free port of loopback."""
    with ThreadingHTTPServer((LOOPBACK, 0), BaseHTTPRequestHandler) as server:
        exporter = Exporter(server.server_port)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = exporter.page(self.path)
                self.send_response(404 if page is None else 200)
                self.send_header("Content-Type", _CONTENT_TYPE)
                self.end_headers()
                self.wfile.write((page or "").encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing of each scrape."""

        server.RequestHandlerClass = Handler
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield exporter
        finally:
            server.shutdown()
            thread.join()
