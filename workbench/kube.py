"""A small, thread-safe client for the Kubernetes API.

On the standard library's HTTP client: pooled connections, client certificates and JSON bodies are all it takes, and
an apply of thousands of objects feels every layer above that.
"""

import http.client
import json
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .kubeconfig import read

Json = dict[str, Any]

APPLY = "application/apply-patch+yaml"
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_PAGE = 500
_IMMUTABLE = ("immutable", "updates to", "may not change once set")
"""How Kubernetes' validation of updates words it. Causes alone are read: names may hold such words, too."""
_STALE = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError)


class KubeError(Exception):
    """What the API server answered when it refused a request.

    Attributes:
        status: HTTP status; 0 when the server could not be reached.
        reason: machine-readable reason of the Status object, such as ``Invalid`` or ``NotFound``.
        message: the server's words.
        causes: ``(field path, message)`` of every field that is wrong.
    """

    def __init__(self, status: int, reason: str, message: str, causes: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = tuple(causes)

    @property
    def immutable(self) -> bool:
        """Whether a field was refused because it cannot change; only a new object can have the value."""
        said = [message for _, message in self.causes] or [self.message]
        return self.status == http.HTTPStatus.UNPROCESSABLE_ENTITY and any(
            words in message for message in said for words in _IMMUTABLE
        )

    @property
    def unreachable(self) -> bool:
        """Whether no server answered."""
        return self.status == 0


class NoSuchKindError(KubeError):
    """The API server does not serve the kind (yet: a CRD may be on its way)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """How a kind is addressed."""

    plural: str
    kind: str
    namespaced: bool


class Kube:
    """One API server. All methods may be called from several threads."""

    def __init__(self, server: str, context: ssl.SSLContext | None, headers: Mapping[str, str] | None = None) -> None:
        self.server = server.rstrip("/")
        self._context = context
        self._headers = {"Accept": "application/json", **(headers or {})}
        self._pool: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._kinds: dict[str, dict[str, Resource]] = {}

    @classmethod
    def from_kubeconfig(cls, source: str | Path, context: str | None = None) -> "Kube":
        """Make a client from a kubeconfig: a path, or its text.

        Raises:
            WorkbenchError: the file is absent or holds no usable cluster; says what is missing.
        """
        access = read(source, context)
        return cls(access.server, access.context, access.headers)

    # Requests

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
        accept: str | None = None,
        timeout: float = 60.0,
    ) -> Json:
        """Send one request and return the decoded answer.

        Raises:
            KubeError: the server refused, or (status 0) did not answer.
        """
        status, data = self._send(method, path, params, body, content_type, accept, timeout)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise _error(status, data)
        try:
            decoded = json.loads(data) if data else {}
        except ValueError:
            decoded = {"text": data.decode(errors="replace")}
        return decoded if isinstance(decoded, dict) else {"value": decoded}

    def _send(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: object,
        content_type: str,
        accept: str | None,
        timeout: float,
    ) -> tuple[int, bytes]:
        url = self._prefix + path + (f"?{urlencode(params)}" if params else "")
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":")).encode()
            headers["Content-Type"] = content_type
        if accept:
            headers["Accept"] = accept
        while True:
            connection, reused = self._take(timeout)
            try:
                connection.request(method, url, data, headers)
                answer = connection.getresponse()
                content = answer.read()
            except _STALE as error:
                connection.close()
                if reused:  # the server closed an idle connection; it has not seen this request
                    continue
                raise self._unreachable(error) from error
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                raise self._unreachable(error) from error
            if answer.will_close:
                connection.close()
            else:
                self._give(connection)
            return answer.status, content

    def _unreachable(self, error: Exception) -> KubeError:
        return KubeError(0, "Unreachable", f"the API server {self.server} does not answer: {error}")

    @property
    def _prefix(self) -> str:
        return urlsplit(self.server).path

    def _take(self, timeout: float) -> tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._pool:
                return self._pool.pop(), True
        parts = urlsplit(self.server)
        host = parts.hostname or ""
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port, timeout=timeout, context=self._context), False
        return http.client.HTTPConnection(host, parts.port, timeout=timeout), False

    def _give(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._pool.append(connection)

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            for connection in self._pool:
                connection.close()
            self._pool.clear()

    def __enter__(self) -> "Kube":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Discovery

    def resource(self, api_version: str, kind: str) -> Resource:
        """Return how a kind is addressed, asking the server once per group and version.

        Raises:
            NoSuchKindError: the server does not serve it; the next call asks again.
        """
        known = self._kinds.get(api_version)
        if known is None or kind not in known:
            known = self._discover(api_version)
        if kind not in known:
            self.forget(api_version)
            raise NoSuchKindError(
                404,
                "NoSuchKind",
                f"{self.server} serves no kind {kind} of {api_version}; is its CRD applied?",
            )
        return known[kind]

    def forget(self, api_version: str | None = None) -> None:
        """Forget what discovery said, about one group and version or all."""
        if api_version is None:
            self._kinds.clear()
        else:
            self._kinds.pop(api_version, None)

    def _discover(self, api_version: str) -> dict[str, Resource]:
        try:
            answer = self.request("GET", _root(api_version))
        except KubeError as error:
            if error.status != http.HTTPStatus.NOT_FOUND:
                raise
            return {}
        found = {
            entry["kind"]: Resource(entry["name"], entry["kind"], entry["namespaced"])
            for entry in answer.get("resources", [])
            if "/" not in entry["name"]
        }
        self._kinds[api_version] = found
        return found

    def path(self, api_version: str, kind: str, name: str | None = None, namespace: str | None = None) -> str:
        """Return the path of an object, or of a collection when ``name`` is None."""
        resource = self.resource(api_version, kind)
        path = _root(api_version)
        if resource.namespaced and (namespace or name):
            path += f"/namespaces/{quote(namespace or 'default')}"
        path += f"/{resource.plural}"
        return f"{path}/{quote(name)}" if name else path

    def path_of(self, obj: Mapping[str, Any]) -> str:
        """Return the path of an object given as a manifest."""
        meta = obj["metadata"]
        return self.path(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"))

    # Verbs

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Json:
        """Return one object."""
        return self.request("GET", self.path(api_version, kind, name, namespace))

    def list(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        metadata_only: bool = False,
    ) -> list[Json]:
        """Return all objects of a kind, in one namespace or in all."""
        return list(
            self._pages(
                self.path(api_version, kind, None, namespace),
                {key: value for key, value in (("labelSelector", labels), ("fieldSelector", fields)) if value},
                METADATA_ONLY if metadata_only else None,
            )
        )

    def _pages(self, path: str, params: dict[str, str], accept: str | None) -> Iterator[Json]:
        params["limit"] = str(_PAGE)
        while True:
            answer = self.request("GET", path, params=params, accept=accept)
            yield from answer.get("items") or ()
            more = answer.get("metadata", {}).get("continue")
            if not more:
                return
            params["continue"] = more

    def create(self, obj: Mapping[str, Any], *, dry_run: bool = False) -> Json:
        """Create an object; it must not exist."""
        meta = obj["metadata"]
        path = self.path(obj["apiVersion"], obj["kind"], None, meta.get("namespace") or "default")
        return self.request("POST", path, params=_dry({}, dry_run), body=obj)

    def apply(
        self,
        obj: Mapping[str, Any],
        *,
        manager: str,
        force: bool = True,
        dry_run: bool = False,
        subresource: str | None = None,
    ) -> Json:
        """Create or update an object by server-side apply."""
        return self.put(obj, manager=manager, force=force, dry_run=dry_run, subresource=subresource)[0]

    def put(
        self,
        obj: Mapping[str, Any],
        *,
        manager: str,
        force: bool = True,
        dry_run: bool = False,
        subresource: str | None = None,
    ) -> tuple[Json, bool]:
        """Apply an object; also return whether it was created just now."""
        path = self.path_of(obj) + (f"/{subresource}" if subresource else "")
        params = _dry({"fieldManager": manager, "force": str(force).lower()}, dry_run)
        status, data = self._send("PATCH", path, params, obj, APPLY, None, 60.0)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise _error(status, data)
        return json.loads(data), status == http.HTTPStatus.CREATED

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        propagation: str = "Background",
        uid: str | None = None,
    ) -> Json | None:
        """Delete an object. None when it was not there (or, with ``uid``, is another one by now)."""
        body: Json = {"propagationPolicy": propagation}
        if uid:
            body["preconditions"] = {"uid": uid}
        try:
            return self.request("DELETE", self.path(api_version, kind, name, namespace), body=body)
        except KubeError as error:
            gone = error.status == http.HTTPStatus.NOT_FOUND
            if gone or (uid and error.status == http.HTTPStatus.CONFLICT):
                return None
            raise

    def uid(self) -> str:
        """Return what identifies the cluster: the uid of its kube-system namespace."""
        found: str = self.get("v1", "Namespace", "kube-system")["metadata"]["uid"]
        return found


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _dry(params: dict[str, str], dry_run: object) -> dict[str, str]:
    return {**params, "dryRun": "All"} if dry_run else params


def _error(status: int, data: bytes) -> KubeError:
    """Turn an answer into an error; a Status object carries reasons and causes, anything else is text."""
    try:
        answer = json.loads(data)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        return KubeError(status, f"HTTP {status}", data.decode(errors="replace").strip()[:500])
    details = answer.get("details") or {}
    causes = [(cause.get("field", ""), cause.get("message", "")) for cause in details.get("causes") or ()]
    return KubeError(status, answer.get("reason") or f"HTTP {status}", answer.get("message", ""), causes)
