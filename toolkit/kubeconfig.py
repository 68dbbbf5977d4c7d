"""Reads kubeconfigs: server, CA and credentials."""

import base64
import json
import os
import ssl
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from toolkit.errors import UserError

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Access:
    """Connection parameters of an API server."""

    server: str
    context: ssl.SSLContext | None
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ClusterEntry:
    """The cluster of a context.

    Attributes:
        name: Its name in the kubeconfig.
        authority: CA certificates in PEM; empty if the system's are used.
    """

    name: str
    server: str
    authority: bytes = b""


def read_cluster_entry(source: str | Path, context: str | None = None) -> ClusterEntry:
    """Read the cluster of a context without the user's credentials.

    Raises:
        UserError: it is missing, unreadable, or lacks the context.
    """
    folder, config = _load(source)
    _, cluster, name = _selected(config, context)
    return ClusterEntry(name, cluster["server"], _content(cluster, "certificate-authority", folder) or b"")


def read(source: str | Path, context: str | None = None) -> Access:
    """Read a kubeconfig, given as path or text.

    Raises:
        UserError: it is missing, unreadable, or lacks the context.
    """
    folder, config = _load(source)
    names, cluster, _ = _selected(config, context)
    server = cluster["server"]
    user = _named(config, "users", names["user"])["user"] if names.get("user") else {}
    if user.get("exec"):
        user = {**user, **_exec_credentials(user["exec"])}
    tls = _tls_context(cluster, user, folder) if server.startswith("https") else None
    return Access(server, tls, _auth_headers(user, folder))


def _load(source: str | Path) -> tuple[Path, Json]:
    """Return the base folder of relative paths, and the content."""
    text, folder, title = str(source), Path(), "the given kubeconfig"
    if isinstance(source, Path) or ("\n" not in source.strip() and not source.lstrip().startswith("{")):
        path = Path(source).expanduser()
        if not path.is_file():
            raise UserError(
                f"there is no kubeconfig at {path}; start the simulated cluster with `workbench cluster start`, or "
                "use --kubeconfig"
            )
        text, folder, title = path.read_text(), path.parent, str(path)
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{title} is not valid YAML: {error}") from None
    if not isinstance(config, dict):
        raise UserError(f"{title} is not a kubeconfig")
    return folder, config


def _selected(config: Json, context: str | None) -> tuple[Json, Json, str]:
    """Return a context, its cluster, and the name of the cluster."""
    names = _named(config, "contexts", context or config.get("current-context"))["context"]
    name = names.get("cluster")
    cluster = _named(config, "clusters", name)["cluster"]
    if not cluster.get("server"):
        raise UserError(f"the kubeconfig's cluster {name!r} has no server")
    return names, cluster, str(name)


def _named(config: Json, section: str, name: object) -> Json:
    for entry in config.get(section) or ():
        if entry.get("name") == name:
            named: Json = entry
            return named
    known = ", ".join(str(entry.get("name")) for entry in config.get(section) or ()) or "none"
    raise UserError(f"the kubeconfig has no {section[:-1]} {name!r}; it has {known}")


def _tls_context(cluster: Json, user: Json, folder: Path) -> ssl.SSLContext:
    authority = _content(cluster, "certificate-authority", folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = (_content(user, f"client-{part}", folder) for part in ("certificate", "key"))
    if certificate and key:
        # The ssl module reads certificates only from files; this one exists just for this call.
        with tempfile.NamedTemporaryFile(mode="wb") as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _content(entry: Json, key: str, folder: Path) -> bytes | None:
    if entry.get(f"{key}-data"):
        return base64.b64decode(entry[f"{key}-data"])
    return (folder / entry[key]).read_bytes() if entry.get(key) else None


def _auth_headers(user: Json, folder: Path) -> dict[str, str]:
    token = user.get("token")
    if not token and user.get("tokenFile"):
        token = (folder / user["tokenFile"]).read_text().strip()
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _exec_credentials(plugin: Json) -> Json:
    """Run an exec credential plugin, such as ``aws eks get-token``."""
    command = [plugin["command"], *(plugin.get("args") or ())]
    info = {"apiVersion": plugin.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
    extra = {entry["name"]: entry["value"] for entry in plugin.get("env") or ()}
    env = {**os.environ, **extra, "KUBERNETES_EXEC_INFO": json.dumps(info)}
    try:
        completed = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)
        status = json.loads(completed.stdout)["status"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        output = getattr(error, "stderr", None) or error
        raise UserError(f"the kubeconfig's credential plugin `{' '.join(command)}` failed: {output}") from None
    return {
        "token": status.get("token"),
        "client-certificate-data": _encoded(status.get("clientCertificateData")),
        "client-key-data": _encoded(status.get("clientKeyData")),
    }


def _encoded(text: str | None) -> str | None:
    return base64.b64encode(text.encode()).decode() if text else None
