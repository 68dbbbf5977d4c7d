"""A real Prometheus on loopback, configured by the test and asked through its HTTP API."""

import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.monitoring.programs.daemon import eventually, running
from toolkit.ports import LOOPBACK, free_ports

Json = dict[str, Any]
SCRAPE_INTERVAL = "500ms"
"""Production has 15 s; a test has no time for that, and no rule under test looks at the interval."""
EMPTY: Json = {"global": {"scrape_interval": SCRAPE_INTERVAL, "evaluation_interval": SCRAPE_INTERVAL}}


@dataclass(frozen=True, slots=True)
class Sample:
    """One element of an instant vector."""

    labels: Mapping[str, str]
    value: float


class Prometheus:
    """The running program. Everything of it lies under ``folder``; relative paths in its config start there."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.url = f"http://{LOOPBACK}:{port}"
        self._moment: float | None = None

    @property
    def config_file(self) -> Path:
        """The file that a reload reads."""
        return self.folder / "prometheus.yml"

    def configure(self, config: Mapping[str, Any], files: Mapping[str, Any] | None = None) -> None:
        """Take over a config, and files that it names (rule files), as YAML.

        Raises:
            AssertionError: Prometheus refuses it; the message is its own.
        """
        self._moment = None
        self.write(config, files)
        status, said = self._send("POST", "/-/reload")
        if status != http.client.OK:
            raise AssertionError(said.decode())

    def write(self, config: Mapping[str, Any], files: Mapping[str, Any] | None = None) -> None:
        """Write the config without telling the program."""
        for name, content in {**(files or {}), self.config_file.name: {**EMPTY, **config}}.items():
            self.write_file(name, content)

    def write_file(self, name: str, content: Any) -> None:
        """Write one file, at once or not at all: service discovery watches those that name targets."""
        unfinished = self.folder / f".{name}"
        unfinished.write_text(json.dumps(content))  # JSON is YAML, and has no surprises with quoting
        unfinished.replace(self.folder / name)

    def get(self, path: str, **params: str) -> Any:
        """Return ``data`` of an answer of the API.

        Raises:
            AssertionError: the API refuses; the message is its own.
        """
        status, said = self._send("GET", f"/api/v1/{path}?{urlencode(params)}")
        answer = json.loads(said)
        if status != http.client.OK or answer["status"] != "success":
            raise AssertionError(answer.get("error", said.decode()))
        return answer["data"]

    def query(self, promql: str) -> list[Sample]:
        """Return an instant vector; a scalar is one sample without labels.

        It is of the moment that ``await_scrape`` has waited for, if it was called last, and of now otherwise: a
        target that does not answer within the interval, as on a busy machine, has no series until its next scrape.
        """
        moment = {} if self._moment is None else {"time": f"{self._moment:.3f}"}
        data = self.get("query", query=promql, **moment)
        if data["resultType"] == "scalar":
            return [Sample({}, float(data["result"][1]))]
        return [Sample(each["metric"], float(each["value"][1])) for each in data["result"]]

    def value(self, promql: str) -> float | None:
        """Return the only element of a query; None where there is none.

        Raises:
            AssertionError: there are several.
        """
        found = self.query(promql)
        if len(found) > 1:
            raise AssertionError(f"{promql} has {len(found)} elements: {found}")
        return found[0].value if found else None

    def await_value(self, promql: str, expected: float | None) -> None:
        """Wait until a query has this value.

        Raises:
            AssertionError: it never had; says what it was last.
        """
        last: list[float | None] = []
        self._moment = None

        def as_expected() -> bool:
            last[:] = [self.value(promql)]
            return last[0] == expected

        try:
            eventually(as_expected, f"{promql} is {expected}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {last[0]}") from None

    def await_scrape(self, jobs: int = 1) -> None:
        """Wait until every target of now was scraped after now, and at least ``jobs`` targets are there.

        Raises:
            AssertionError: one was not; says what Prometheus thinks of its targets.
        """
        begun = time.time()

        def scraped() -> bool:
            targets = self.get("targets", state="active")["activeTargets"]
            if len(targets) < jobs or not all(
                target["health"] == "up" and _seconds(target["lastScrape"]) > begun for target in targets
            ):
                return False
            # A target is reported as scraped before its samples are committed.
            series = {tuple(sorted(target["labels"].items())) for target in targets}
            self._moment = time.time()
            return len(self.query(f"timestamp(up == 1) > {begun}")) >= len(series)

        try:
            eventually(scraped, "every target scraped")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.get('targets')['activeTargets']}") from None

    def rest(self) -> None:
        """Scrape nothing any more: all queries are of the moment that ``await_scrape`` has waited for."""
        moment = self._moment
        self.configure({})
        self._moment = moment

    def ready(self) -> bool:
        """Say whether it answers queries."""
        try:
            return self._send("GET", "/-/ready")[0] == http.client.OK
        except OSError:
            return False

    def _send(self, method: str, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=30)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@contextmanager
def started(program: Path, folder: Path) -> Iterator[Prometheus]:
    """Run Prometheus with an empty config, and its storage under ``folder``."""
    (port,) = free_ports(1)
    prometheus = Prometheus(folder, port)
    prometheus.write({})
    command = [
        str(program),
        f"--config.file={prometheus.config_file}",
        f"--storage.tsdb.path={folder / 'storage'}",
        f"--web.listen-address={LOOPBACK}:{port}",
        "--web.enable-lifecycle",
        # Hidden, and 5 s by default: targets that a test changed must not wait for it.
        f"--scrape.discovery-reload-interval={SCRAPE_INTERVAL}",
        "--log.level=warn",
    ]
    with running(command, folder / "prometheus.log", prometheus.ready):
        yield prometheus


def scraping(targets: Sequence[Mapping[str, Any]], job: str = "serving/engines", **more: Any) -> Json:
    """A config with one job of static targets; ``more`` are settings of the job, such as ``honor_labels``."""
    return {"scrape_configs": [{"job_name": job, "static_configs": list(targets), **more}]}


def watching(file: str, job: str = "serving/engines", **more: Any) -> Json:
    """A config with one job whose targets are read from a file whenever it changes (``Prometheus.write_file``)."""
    return {"scrape_configs": [{"job_name": job, "file_sd_configs": [{"files": [file]}], **more}]}


def _seconds(timestamp: str) -> float:
    """Prometheus writes nanoseconds, which fromisoformat of Python 3.11 cuts to microseconds."""
    return datetime.fromisoformat(timestamp).timestamp()
