"""Reads kubeconfigs: server, CA and credentials.

They come from anywhere and hold secrets, so every problem is a :class:`~toolkit.errors.UserError` that names the file
and the field, and never a value. Fields and their types are those of client-go's ``clientcmd/api/v1``.
"""

import base64
import binascii
import json
import os
import ssl
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolkit.errors import UserError

_PLUGIN_SECONDS = 60
_REASONS = {
    "missing": "is missing",
    "model_type": "must be a map",
    "dict_type": "must be a map",
    "list_type": "must be a list",
    "string_type": "must be text",
    "bool_type": "must be true or false",
}
"""What is wrong, by pydantic's type of error; its own messages name Python's types."""


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


class _ServerContext(ssl.SSLContext):
    """A TLS configuration that can expect another server name than that of the address, as behind a tunnel."""

    server_name: str = ""

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:  # noqa: ANN401  those of ssl
        """Start TLS on a connection."""
        if self.server_name:
            options["server_hostname"] = self.server_name
        return super().wrap_socket(*args, **options)


class _Section(BaseModel):
    """A map of a kubeconfig. As in client-go, unknown keys are ignored, and null is the same as absence."""

    model_config = ConfigDict(  # type: ignore[pydantic-alias]  # nothing is created by the names of fields
        strict=True, extra="ignore", frozen=True, alias_generator=lambda name: name.replace("_", "-")
    )


class _Cluster(_Section):
    server: str | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None


class _Variable(_Section):
    name: str
    value: str


class _Plugin(_Section):
    command: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    api_version: str | None = Field(None, alias="apiVersion")


class _User(_Section):
    token: str | None = None
    token_file: str | None = Field(None, alias="tokenFile")
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    username: str | None = None
    password: str | None = None
    exec: _Plugin | None = None
    auth_provider: dict[str, Any] | None = None
    impersonated: str | None = Field(None, alias="as")


class _Context(_Section):
    cluster: str | None = None
    user: str | None = None


class _NamedCluster(_Section):
    name: str
    cluster: _Cluster | None = None


class _NamedContext(_Section):
    name: str
    context: _Context | None = None


class _NamedUser(_Section):
    name: str
    user: _User | None = None


class _Content(_Section):
    current_context: str | None = None
    contexts: list[_NamedContext] | None = None
    clusters: list[_NamedCluster] | None = None
    users: list[_NamedUser] | None = None


_Named = TypeVar("_Named", _NamedCluster, _NamedContext, _NamedUser)


class _Issued(_Section):
    """The status of an ExecCredential, which a plugin prints."""

    token: str | None = None
    certificate: str | None = Field(None, alias="clientCertificateData")
    key: str | None = Field(None, alias="clientKeyData")


class _ExecCredential(_Section):
    status: _Issued


def read_cluster_entry(source: str | Path, context: str | None = None) -> ClusterEntry:
    """Read the cluster of a context without the user's credentials.

    Raises:
        UserError: it is missing, unreadable, or lacks the context.
    """
    kubeconfig = _File.load(source)
    entry, _ = kubeconfig.selected(context)
    return ClusterEntry(entry.name, kubeconfig.server(entry), kubeconfig.authority(entry) or b"")


def read(source: str | Path, context: str | None = None) -> Access:
    """Read a kubeconfig, given as path or text.

    Raises:
        UserError: it is missing, unreadable, lacks the context, or needs what this client cannot do.
    """
    kubeconfig = _File.load(source)
    entry, named_user = kubeconfig.selected(context)
    server = kubeconfig.server(entry)
    user = (named_user and named_user.user) or _User()
    where = f"users[{named_user.name}].user" if named_user else "users"
    kubeconfig.refuse_unsupported(entry, user, where)
    if user.exec:
        issued = kubeconfig.issued(user.exec, f"{where}.exec")
        user = user.model_copy(update={"token": issued.token})
        certificate, key = _encoded(issued.certificate), _encoded(issued.key)
    else:
        field = f"{where}.client-certificate"
        certificate = kubeconfig.content(user.client_certificate_data, user.client_certificate, field)
        key = kubeconfig.content(user.client_key_data, user.client_key, f"{where}.client-key")
    tls = None
    if urlsplit(server).scheme == "https":
        tls = kubeconfig.tls_context(entry, certificate, key, where)
    return Access(server, tls, kubeconfig.headers(user, where))


@dataclass(frozen=True, slots=True)
class _File:
    """A kubeconfig.

    Attributes:
        title: What it is called in messages.
        folder: The base folder of relative paths.
    """

    title: str
    folder: Path
    config: _Content

    @classmethod
    def load(cls, source: str | Path) -> "_File":
        text, folder, title = str(source), Path(), "the given kubeconfig"
        if isinstance(source, Path) or ("\n" not in source.strip() and not source.lstrip().startswith("{")):
            path = Path(source).expanduser()
            if not path.is_file():
                raise UserError(
                    f"there is no kubeconfig at {path}; start the simulated cluster with `workbench cluster start`, "
                    "or use --kubeconfig"
                )
            folder, title = path.parent, str(path)
            try:
                text = path.read_text(encoding="utf-8-sig")
            except OSError as error:
                raise UserError(f"{title} cannot be read: {error.strerror}") from None
            except UnicodeDecodeError:
                raise UserError(f"{title} is not UTF-8 text; save the file as UTF-8") from None
        return cls(title, folder, _parsed(text, title))

    def selected(self, context: str | None) -> tuple[_NamedCluster, _NamedUser | None]:
        """Return cluster and user of a context: the given one, or the current one."""
        wanted = context or self.config.current_context
        if not wanted:
            raise UserError(f"{self.title} has no current-context; set it with `kubectl config use-context`")
        found = self._named("contexts", self.config.contexts, wanted).context or _Context()
        cluster = self._named("clusters", self.config.clusters, found.cluster or "")
        user = self._named("users", self.config.users, found.user) if found.user else None
        return cluster, user

    def _named(self, section: str, entries: Iterable[_Named] | None, name: str) -> _Named:
        present: list[_Named] = list(entries or ())
        for entry in present:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in present) or "none"
        raise UserError(f"{self.title} has no {section[:-1]} {name!r}; it has {known}")

    def server(self, entry: _NamedCluster) -> str:
        """Return the checked address of a cluster."""
        where = f"clusters[{entry.name}].cluster.server"
        server = entry.cluster.server if entry.cluster else None
        if not server:
            raise self.error(where, "is missing; add the address of the API server")
        try:
            parts = urlsplit(server)
            usable = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
            # A host name has labels of at most 63 characters; HTTP sends neither spaces nor other alphabets.
            server.encode("ascii")
            (parts.hostname or "").encode("idna")
            usable = usable and server.isprintable() and " " not in server
        except ValueError:  # UnicodeError among them
            usable = False
        if not usable:
            raise self.error(where, "must be an address such as https://10.0.0.1:6443; correct it")
        if parts.username is not None:
            raise self.error(where, "contains a user or password; move them to the user's username and password")
        return server

    def refuse_unsupported(self, entry: _NamedCluster, user: _User, where: str) -> None:
        """Raise an error for fields without which another server would be reached, or with other rights."""
        cluster = entry.cluster or _Cluster()
        unsupported = {
            f"clusters[{entry.name}].cluster.proxy-url": cluster.proxy_url,
            f"{where}.as": user.impersonated,
            f"{where}.auth-provider": user.auth_provider,
        }
        for field, value in unsupported.items():
            if value:
                raise self.error(field, "is not supported; use a context without it")

    def authority(self, entry: _NamedCluster) -> bytes | None:
        """Return the CA certificates of a cluster in PEM; None for the system's."""
        cluster = entry.cluster or _Cluster()
        where = f"clusters[{entry.name}].cluster.certificate-authority"
        return self.content(cluster.certificate_authority_data, cluster.certificate_authority, where)

    def content(self, data: str | None, file: str | None, where: str) -> bytes | None:
        """Return what a pair of fields holds: ``<where>-data`` in base64, or else a file; None for neither."""
        if data:
            try:
                return base64.b64decode("".join(data.split()), validate=True)
            except (binascii.Error, ValueError):
                raise self.error(f"{where}-data", "is not base64; copy it again") from None
        return self._file(file, where) if file else None

    def _file(self, name: str, where: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "not a path"
            raise self.error(where, f"its file cannot be read: {reason}; correct the path") from None

    def tls_context(
        self, entry: _NamedCluster, certificate: bytes | None, key: bytes | None, where: str
    ) -> ssl.SSLContext:
        """Return the TLS configuration for a cluster and a client certificate."""
        authority = self.authority(entry)
        context = _ServerContext(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = (entry.cluster and entry.cluster.tls_server_name) or ""
        try:
            if authority:
                context.load_verify_locations(cadata=authority.decode("ascii"))
            else:
                context.load_default_certs()
        except (ssl.SSLError, UnicodeDecodeError):
            field = f"clusters[{entry.name}].cluster.certificate-authority"
            raise self.error(field, "holds no certificate in PEM; copy it again") from None
        if entry.cluster and entry.cluster.insecure_skip_tls_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if certificate and key:
            # The ssl module reads certificates only from files; this one exists just for this call.
            with tempfile.NamedTemporaryFile(mode="wb") as file:
                file.write(certificate + b"\n" + key)
                file.flush()
                try:
                    # Without a password, OpenSSL would ask for one on the terminal.
                    context.load_cert_chain(file.name, password=b"")
                except (ssl.SSLError, ValueError):
                    field = f"{where}.client-certificate"
                    raise self.error(field, "is no certificate in PEM for client-key; copy both again") from None
        return context

    def headers(self, user: _User, where: str) -> dict[str, str]:
        """Return the HTTP headers that authenticate a user."""
        token = user.token
        if not token and user.token_file:
            token = self._file(user.token_file, f"{where}.tokenFile").decode("latin-1").strip()
        if token:
            # Anything else would end the header, or another one begin.
            if not (token.isascii() and token.isprintable() and " " not in token):
                raise self.error(f"{where}.token", "has characters that no token has; copy it again")
            return {"Authorization": f"Bearer {token}"}
        if user.username:
            pair = f"{user.username}:{user.password or ''}".encode()
            return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        return {}

    def issued(self, plugin: _Plugin, where: str) -> _Issued:
        """Run a credential plugin, such as ``aws eks get-token``, and return what it issued."""
        info = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": {"interactive": False}}
        extra = {variable.name: variable.value for variable in plugin.env or ()}
        environment = {**os.environ, **extra, "KUBERNETES_EXEC_INFO": json.dumps(info)}
        command = [plugin.command, *(plugin.args or ())]
        try:
            completed = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True, timeout=_PLUGIN_SECONDS
            )
        except subprocess.CalledProcessError as error:
            output = error.stderr.strip().splitlines()
            reason = f"exit code {error.returncode}{f': {output[-1]}' if output else ''}"
        except subprocess.TimeoutExpired:
            reason = f"no answer within {_PLUGIN_SECONDS} s"
        except OSError as error:
            reason = error.strerror or "it cannot be started"
        except (ValueError, UnicodeError):
            reason = "its arguments or its answer are not text"
        else:
            try:
                return _ExecCredential.model_validate_json(completed.stdout).status
            except ValidationError:
                reason = "it did not print an ExecCredential with a status"
        raise self.error(where, f"the credential plugin {plugin.command} failed: {reason}; run it by hand to see why")

    def error(self, field: str, reason: str) -> UserError:
        return UserError(f"{self.title}: {field}: {reason}")


def _parsed(text: str, title: str) -> _Content:
    try:
        content = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        # The parser's message quotes the text, which may be a secret.
        raise UserError(f"{title}{place}: not valid YAML; correct the line, which is not shown") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise UserError(f"{title}: not valid YAML; write it again, for example with `kubectl config view`") from None
    if not isinstance(content, dict):
        raise UserError(f"{title}: is not a kubeconfig, which is a map with clusters, contexts and users")
    try:
        return _Content.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        reason = _REASONS.get(first["type"], "has a wrong value")
        raise UserError(f"{title}: {field.removeprefix('.')}: {reason}; correct it") from None


def _encoded(text: str | None) -> bytes | None:
    return text.encode() if text else None
