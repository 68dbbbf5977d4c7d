"""prometheus-adapter: the metrics APIs that autoscalers read, served from Prometheus."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.checks.metrics.rules import adapter_config as rules_config
from toolkit.certificates import self_signed
from toolkit.errors import UserError
from toolkit.kube import Kube
from toolkit.ports import LOOPBACK
from toolkit.private import write_private
from toolkit.process import flags
from toolkit.toolchain import Progress

from ..daemons import keep_running, kept_port, listens
from ..fleet import Object
from ..folder import LiveFolder
from .registration import HOST, await_available, grant, register


def adapter_config(rules: Mapping[str, Any]) -> Object:
    """Return the adapter's config file for the chart value ``rules``, like the chart's ConfigMap template.

    Raises:
        UserError: the rules need something that only a cluster has: the chart's default rules, another ConfigMap, or
            metrics of containers.
    """
    if rules.get("default", True):
        raise UserError(
            "rules.default is true unless set to false, and the chart's default rules are not supported here"
        )
    if rules.get("existing"):
        raise UserError("rules.existing replaces all rules by a ConfigMap that is not available here")
    if rules.get("resource"):
        raise UserError("rules.resource needs metrics of containers, which simulated pods do not have")
    unknown = rules.keys() - {"default", "existing", "custom", "external", "resource"}
    if unknown:
        raise UserError(f"the chart has no value rules.{', rules.'.join(sorted(unknown))}")
    return rules_config(dict(rules))


NAME = "prometheus-adapter"
IDENTITY = "prometheus-adapter"
"""Its identity in the cluster (``pki.IDENTITIES``)."""
RELIST = "5s"
"""Interval of the search for new series. The chart's default is a minute, during which the autoscaler of a new model
reads no metrics."""
_MAX_AGE = "1m"
"""How far back it searches for series. Those of a pod that just ended still exist, but have no value any more."""


@dataclass(frozen=True, slots=True)
class AdapterFiles:
    """Paths of the adapter's files."""

    folder: Path
    config: Path

    @classmethod
    def written(cls, folder: Path, config: Mapping[str, Any]) -> "AdapterFiles":
        """Write a config, and a certificate unless there is one."""
        content = json.dumps(config, indent=1).encode()  # JSON is YAML
        # With a digest in its name, a changed config changes the command line, and so restarts the adapter.
        files = cls(folder, folder / f"config-{hashlib.sha256(content).hexdigest()[:12]}.yaml")
        for old in folder.glob("config-*.yaml"):
            old.unlink()
        write_private(files.config, content)
        if not files.certificate.exists():
            self_signed(folder, NAME, HOST)
        return files

    @property
    def certificate(self) -> Path:
        return self.folder / f"{NAME}.crt"

    @property
    def key(self) -> Path:
        return self.folder / f"{NAME}.key"


def start_adapter(
    program: Path, folder: LiveFolder, kube: Kube, rules: Mapping[str, Any], prometheus: str, progress: Progress
) -> None:
    """Start the adapter, or restart it with other rules, and return when the cluster reaches it.

    Args:
        program: The adapter.
        folder: Folder of the live fleet.
        kube: A client with all rights.
        rules: ``custom`` and ``external`` of the chart value ``rules``.
        prometheus: URL of Prometheus.
        progress: Receives messages about the progress.

    Raises:
        UserError: the adapter did not start, or the cluster does not reach it.
    """
    config = adapter_config({"default": False, **rules})
    port = kept_port(folder, NAME)
    files = AdapterFiles.written(folder.path / NAME, config)
    kubeconfig = folder.state_dir / "cluster" / f"{IDENTITY}.kubeconfig"
    grant(kube)  # first, because the adapter does not start without its rights
    arguments = command(program, files, kubeconfig, port, prometheus)
    started = keep_running(folder, NAME, arguments, lambda: listens(port))
    if started:
        progress("started prometheus-adapter")
    register(kube, config, port, files.certificate, restarted=started)
    await_available(kube)


def command(
    program: Path, files: AdapterFiles, kubeconfig: Path, port: int, prometheus: str, relist: str = RELIST
) -> list[str]:
    settings = {
        "config": files.config,
        "bind-address": LOOPBACK,
        "secure-port": port,
        "tls-cert-file": files.certificate,
        "tls-private-key-file": files.key,
        "lister-kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "prometheus-url": prometheus,
        "metrics-relist-interval": relist,
        "metrics-max-age": _MAX_AGE,
    }
    return [str(program), *flags(settings)]
