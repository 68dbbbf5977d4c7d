"""Configure and start Prometheus of the live fleet."""

import hashlib
import http.client
import json
from collections.abc import Iterable
from pathlib import Path

from toolkit.errors import UserError
from toolkit.ports import LOOPBACK
from toolkit.private import write_private
from toolkit.process import flags
from toolkit.toolchain import Progress

from ..daemons import keep_running, kept_port
from ..fleet import Object
from ..folder import Addresses, LiveFolder
from .monitors import scrape_job

NAME = "prometheus"
_INTERVAL = "15s"
"""Scrape interval of a PodMonitor that has none (kube-prometheus has 30s)."""
_DISCOVERY = "2s"
"""Poll interval of service discovery. In a cluster, Prometheus watches pods instead."""
_RETENTION = {"time": "6h", "size": "256MB"}


def start_prometheus(program: Path, folder: LiveFolder, monitors: Iterable[Object], progress: Progress) -> str:
    """Start Prometheus, or restart it if its jobs have changed, and return its URL.

    Raises:
        UserError: the process of the pods does not run, or Prometheus did not start.
    """
    directory = folder.path / NAME
    addresses = folder.addresses()
    if not addresses.control:
        raise UserError("Prometheus has nothing to scrape: the process behind the pods does not run")
    token = directory / "token"
    write_private(token, addresses.token.encode())
    content = json.dumps(config(monitors, addresses, token, progress), indent=1).encode()  # JSON is YAML
    # With a digest in its name, a changed config changes the command line, and so restarts Prometheus.
    file = directory / f"prometheus-{hashlib.sha256(content).hexdigest()[:12]}.yml"
    for old in directory.glob("prometheus-*.yml"):
        old.unlink()
    write_private(file, content)
    port = kept_port(folder, NAME)
    if keep_running(folder, NAME, command(program, file, directory / "storage", port), lambda: _is_ready(port)):
        progress("started Prometheus")
    return f"http://{LOOPBACK}:{port}"


def command(program: Path, file: Path, storage: Path, port: int) -> list[str]:
    """Return the command line for a config file."""
    settings = {
        "config.file": file,
        "storage.tsdb.path": storage,
        **{f"storage.tsdb.retention.{limit}": value for limit, value in _RETENTION.items()},
        "web.listen-address": f"{LOOPBACK}:{port}",
        # A hidden flag. By default, new targets are scraped only after up to 5 s.
        "scrape.discovery-reload-interval": _DISCOVERY,
        "log.level": "warn",
    }
    return [str(program), *flags(settings)]


def config(monitors: Iterable[Object], addresses: Addresses, token: Path, progress: Progress) -> Object:
    """Return Prometheus' configuration: a job for each PodMonitor, with targets from the process of the pods.

    Args:
        monitors: PodMonitors; unsupported ones are left out and reported to ``progress``.
        addresses: Addresses of the live fleet, with that of the process.
        token: File with the token of the process.
        progress: Receives messages about the progress.
    """
    jobs = []
    for monitor in monitors:
        metadata = monitor["metadata"]
        discovery = {
            "url": f"{addresses.control}/targets/{metadata['namespace']}.{metadata['name']}",
            "authorization": {"type": "Bearer", "credentials_file": str(token)},
            "refresh_interval": _DISCOVERY,
        }
        try:
            jobs.append(scrape_job(monitor, {"http_sd_configs": [discovery]}))
        except UserError as error:
            progress(str(error))
    return {"global": {"scrape_interval": _INTERVAL}, "scrape_configs": jobs}


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/-/ready")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
