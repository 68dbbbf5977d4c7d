"""The client: discovery, paths and verbs."""

import http
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..kubeconfig import read
from .errors import (
    KubeError,
    MalformedObject,
    MalformedObjectError,
    MalformedResponseError,
    NoSuchKindError,
    error_in,
)
from .transport import Transport

Json = dict[str, Any]

APPLY = "application/apply-patch+yaml"
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_PARTIAL = "PartialObjectMetadata"
"""Kind of the objects of such a list, whatever they are."""
_PAGE = 500
_UNAVAILABLE = (http.HTTPStatus.BAD_GATEWAY, http.HTTPStatus.SERVICE_UNAVAILABLE, http.HTTPStatus.GATEWAY_TIMEOUT)
_RETRY_PAUSE = 0.5
_WATCH_SECONDS, _WATCH_GRACE = 300, 30


@dataclass(frozen=True, slots=True)
class ApiResource:
    """Discovery information about a kind."""

    plural: str
    kind: str
    namespaced: bool


class Kube:
    """A client of one API server. All methods are thread-safe."""

    def __init__(self, server: str, context: ssl.SSLContext | None, headers: Mapping[str, str] | None = None) -> None:
        self.server = server.rstrip("/")
        self._transport = Transport(self.server, context, headers or {})
        self._kinds: dict[str, dict[str, ApiResource]] = {}
        self.retry_seconds = 0.0
        """Seconds for which requests are retried while the server or its etcd is unavailable."""
        self.on_retry: Callable[[str], None] = lambda _: None
        """Called with a message before each retry."""

    @classmethod
    def from_kubeconfig(cls, source: str | Path, context: str | None = None) -> "Kube":
        """Create a client from the path or text of a kubeconfig.

        Raises:
            UserError: the file is missing or defines no usable cluster.
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
        """Send a request and return the decoded response.

        Raises:
            KubeError: the server rejected it, or (status 0) did not respond as an API server does.
        """
        status, data = self._send(method, path, params, body, content_type, accept, timeout)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise error_in(status, data)
        return self._decoded(data)

    def succeeds(self, path: str, timeout: float = 5.0) -> bool:
        """Whether a GET request succeeds, whatever the response contains: health endpoints send text."""
        try:
            status, _ = self._send("GET", path, None, None, "", None, timeout)
        except KubeError:
            return False
        return status < http.HTTPStatus.BAD_REQUEST

    def _decoded(self, data: bytes) -> Json:
        try:
            decoded = json.loads(data) if data else {}
            if b"\\ud" in data or b"\\uD" in data:
                # A surrogate without its partner is no character, and cannot be printed or encoded.
                decoded = json.loads(json.dumps(decoded, ensure_ascii=False).encode(errors="replace"))
        except (ValueError, RecursionError):
            decoded = None
        if not isinstance(decoded, dict):
            raise self._malformed("something else than a JSON object")
        return decoded

    def _malformed(self, found: str) -> MalformedResponseError:
        return MalformedResponseError(self.server, found)

    def _send(self, method: str, *request: Any) -> tuple[int, bytes]:  # noqa: ANN401 - as the transport takes it
        """Send a request; retry while the server is unavailable, except a POST, which may have succeeded."""
        deadline = time.monotonic() + (self.retry_seconds if method != "POST" else 0.0)
        while True:
            try:
                status, data = self._transport.send(method, *request)
                # The API server returns errors of etcd as internal errors of its own.
                is_etcd_error = status == http.HTTPStatus.INTERNAL_SERVER_ERROR and b"etcd" in data
                if not (status in _UNAVAILABLE or is_etcd_error) or not self.retry_seconds:
                    return status, data
                error = error_in(status, data)
                error = KubeError(0, "Unreachable", f"the API server {self.server} is unavailable: {error.message}")
            except KubeError as unreachable:
                error = unreachable
            if time.monotonic() >= deadline:
                raise error
            self.on_retry(f"waiting for the API server {self.server}")
            time.sleep(_RETRY_PAUSE)

    @property
    def closed(self) -> bool:
        return self._transport.closed

    def close(self) -> None:
        """Close idle connections and watches."""
        self._transport.close()

    def __enter__(self) -> "Kube":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Discovery

    def resource(self, api_version: str, kind: str) -> ApiResource:
        """Return discovery information about a kind; queries the server once per group and version.

        Raises:
            NoSuchKindError: the server does not serve it; the next call queries again.
        """
        kinds = self._kinds.get(api_version)
        if kinds is None or kind not in kinds:
            kinds = self._discover(api_version)
        if kind not in kinds:
            self.forget(api_version)
            raise NoSuchKindError(
                404,
                "NoSuchKind",
                f"{self.server} serves no kind {kind} of {api_version}; is its CRD applied?",
            )
        return kinds[kind]

    def forget(self, api_version: str | None = None) -> None:
        """Drop cached discovery information, of one group and version or all."""
        if api_version is None:
            self._kinds.clear()
        else:
            self._kinds.pop(api_version, None)

    def _discover(self, api_version: str) -> dict[str, ApiResource]:
        try:
            response = self.request("GET", _root(api_version))
        except KubeError as error:
            if error.status != http.HTTPStatus.NOT_FOUND:
                raise
            return {}
        try:
            kinds = {
                str(entry["kind"]): ApiResource(str(entry["name"]), str(entry["kind"]), bool(entry["namespaced"]))
                for entry in response.get("resources") or ()
                if "/" not in entry["name"]  # subresources, such as pods/status
            }
        except (KeyError, TypeError):
            raise self._malformed(f"something else than an APIResourceList of {api_version}") from None
        self._kinds[api_version] = kinds
        return kinds

    def path(self, api_version: str, kind: str, name: str | None = None, namespace: str | None = None) -> str:
        """Return the path of an object, or of a collection when ``name`` is None."""
        resource = self.resource(api_version, kind)
        path = _root(api_version)
        if resource.namespaced and (namespace or name):
            path += f"/namespaces/{quote(namespace or 'default')}"
        path += f"/{resource.plural}"
        return f"{path}/{quote(name)}" if name else path

    def path_of(self, obj: Mapping[str, Any]) -> str:
        """Return the path of a manifest's object."""
        meta = obj["metadata"]
        return self.path(obj["apiVersion"], obj["kind"], meta["name"], meta.get("namespace"))

    # Verbs

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Json:
        """Return an object.

        Raises:
            MalformedObjectError: its fields have other types than those of its kind.
            KubeError: the server rejected the request, or did not respond.
        """
        found = self.request("GET", self.path(api_version, kind, name, namespace))
        return self._checked(found, api_version, kind, name, namespace or "")

    def get_live(self, obj: Mapping[str, Any]) -> Json:
        """Return the live state of a manifest's object."""
        metadata = obj["metadata"]
        return self.get(obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))

    def _checked(
        self, value: object, api_version: str, kind: str, name: str, namespace: str = "", *, partial: bool = False
    ) -> Json:
        """Return an object without nulls, which are the same as absence.

        Raises:
            MalformedObjectError: its fields have other types than those of its kind.
        """
        from components.contract.problems import field_path
        from components.contract.schema.live import normalized, wrong_types
        from components.contract.texts.printable import printable
        from components.contract.texts.secrets import masked_text, quoted_texts

        if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
            name = _text_in(value["metadata"], "name") or name
            namespace = _text_in(value["metadata"], "namespace") or namespace
        if not isinstance(value, dict) or not is_object(value):
            reason = "it must have a name, and maps of text as labels and annotations"
            raise MalformedObjectError(self.server, MalformedObject(kind, namespace, name, "", reason))
        checked: Json = normalized(value)
        for path, reason in wrong_types(
            {**checked, "apiVersion": api_version, "kind": _PARTIAL if partial else kind}
        ):
            # The reason quotes the object, which may hold secrets and control characters.
            reason = printable(masked_text(reason, quoted_texts(checked)))
            where = printable(masked_text(field_path(path)))
            raise MalformedObjectError(self.server, MalformedObject(kind, namespace, name, where, reason))
        return checked

    def _all_checked(
        self,
        items: object,
        api_version: str,
        kind: str,
        unread: list[MalformedObject] | None = None,
        *,
        partial: bool = False,
    ) -> list[Json]:
        """Return the objects of a list; those that cannot be read go to ``unread``, or raise an error without it."""
        if not isinstance(items, list):
            raise self._malformed(f"something else than a list of {kind} objects")
        checked = []
        for number, item in enumerate(items, start=1):
            try:
                checked.append(self._checked(item, api_version, kind, f"(item {number})", partial=partial))
            except MalformedObjectError as error:
                if unread is None:
                    raise
                unread.append(error.malformed)
        return checked

    def list(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        labels: str | None = None,
        fields: str | None = None,
        metadata_only: bool = False,
        unread: list[MalformedObject] | None = None,
    ) -> list[Json]:
        """Return all objects of a kind, in one namespace or in all.

        Args:
            api_version: API version of the kind.
            kind: The kind.
            namespace: The namespace; None for all.
            labels: A label selector.
            fields: A field selector.
            metadata_only: Whether only the metadata is needed.
            unread: Receives the objects that cannot be read, which are left out; without it, they are an error.

        Raises:
            MalformedObjectError: the fields of an object have other types than those of its kind.
            KubeError: the server rejected the request, or did not respond.
        """
        path = self.path(api_version, kind, None, namespace)
        params = {key: value for key, value in (("labelSelector", labels), ("fieldSelector", fields)) if value}
        params["limit"] = str(_PAGE)
        objects: list[Json] = []
        while True:
            page = self.request("GET", path, params=params, accept=_METADATA_ONLY if metadata_only else None)
            items, metadata = page.get("items") or [], page.get("metadata") or {}
            title = f"a list of {kind} objects"
            if not isinstance(metadata, dict) or not isinstance(metadata.get("continue") or "", str):
                raise self._malformed(f"something else than {title}")
            objects += self._all_checked(items, api_version, kind, unread, partial=metadata_only)
            token = metadata.get("continue")
            if not token:
                return objects
            params["continue"] = token

    def collection(self, api_version: str, kind: str, fields: str = "") -> tuple[tuple[Json, ...], str]:
        """Return all objects of a kind, and the version of the list, from which :meth:`watch` continues."""
        page = self.request("GET", self.path(api_version, kind), params={"fieldSelector": fields} if fields else None)
        if not _has_version(page):
            raise self._malformed(f"something else than a list of {kind} objects")
        items = self._all_checked(page.get("items") or [], api_version, kind)
        return tuple(items), page["metadata"]["resourceVersion"]

    def watch(self, api_version: str, kind: str, since: str, fields: str = "") -> Iterator[tuple[str, Json]]:
        """Yield the events after a resource version, each with its object.

        Events are ``ADDED``, ``MODIFIED``, ``DELETED`` and ``BOOKMARK``. Ends after some minutes, when the server
        closes the watch. To resume, watch again from the version of the last object.

        Args:
            api_version: API version of the kind.
            kind: The kind, in all namespaces.
            since: The resource version.
            fields: A field selector; empty for all objects.

        Raises:
            KubeError: the server rejected the request; status 410 means that the version is too old.
        """
        params = {"watch": "true", "resourceVersion": since, "allowWatchBookmarks": "true"}
        params["timeoutSeconds"] = str(_WATCH_SECONDS)
        if fields:
            params["fieldSelector"] = fields
        for line in self._transport.lines(self.path(api_version, kind), params, _WATCH_SECONDS + _WATCH_GRACE):
            event = self._decoded(line)
            kind_of_event, subject = event.get("type"), event.get("object")
            if isinstance(subject, dict) and kind_of_event == "ERROR":
                code = subject.get("code")
                status = code if isinstance(code, int) else 0
                raise KubeError(status, str(subject.get("reason", "")), str(subject.get("message", "")))
            if not isinstance(subject, dict) or not _has_version(subject):
                raise self._malformed("something else than an event of a watch")
            yield str(kind_of_event), subject

    def create(self, obj: Mapping[str, Any], *, dry_run: bool = False) -> Json:
        """Create an object; it must not exist."""
        meta = obj["metadata"]
        path = self.path(obj["apiVersion"], obj["kind"], None, meta.get("namespace") or "default")
        return self.request("POST", path, params=_with_dry_run({}, dry_run), body=obj)

    def apply(
        self,
        obj: Mapping[str, Any],
        *,
        manager: str,
        force: bool = True,
        dry_run: bool = False,
        subresource: str | None = None,
    ) -> Json:
        """Create or update an object with server-side apply."""
        return self.server_side_apply(obj, manager=manager, force=force, dry_run=dry_run, subresource=subresource)[0]

    def server_side_apply(
        self,
        obj: Mapping[str, Any],
        *,
        manager: str,
        force: bool = True,
        dry_run: bool = False,
        subresource: str | None = None,
    ) -> tuple[Json, bool]:
        """Apply an object, and return whether it was created. Unknown fields are rejected (strict validation)."""
        path = self.path_of(obj) + (f"/{subresource}" if subresource else "")
        params = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}
        params = _with_dry_run(params, dry_run)
        status, data = self._send("PATCH", path, params, obj, APPLY, None, 60.0)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise error_in(status, data)
        applied = self._checked(self._decoded(data), obj["apiVersion"], obj["kind"], obj["metadata"]["name"])
        self.uid_of(applied, obj["kind"])
        return applied, status == http.HTTPStatus.CREATED

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
        """Delete an object. Returns None if it does not exist, or with ``uid``, if its uid is another one."""
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
        """Return the identity of the cluster: the uid of its namespace kube-system."""
        return self.uid_of(self.get("v1", "Namespace", "kube-system"), "Namespace")

    def uid_of(self, live: Mapping[str, Any], kind: str) -> str:
        """Return the uid of an object that this client returned.

        Raises:
            MalformedObjectError: it has none.
        """
        return self._required(live, kind, "uid")

    def version_of(self, live: Mapping[str, Any], kind: str) -> str:
        """Return the resource version of an object that this client returned.

        Raises:
            MalformedObjectError: it has none.
        """
        return self._required(live, kind, "resourceVersion")

    def _required(self, live: Mapping[str, Any], kind: str, key: str) -> str:
        metadata = live["metadata"]
        value = metadata.get(key)
        if not isinstance(value, str) or not value:
            namespace, name = metadata.get("namespace", ""), metadata["name"]
            raise MalformedObjectError(
                self.server, MalformedObject(kind, namespace, name, f"metadata.{key}", "is required")
            )
        return value


def is_object(value: object) -> bool:
    """Whether a value has the metadata that every object has: a name, and maps of text as labels and annotations."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return False
    if not isinstance(metadata.get("namespace", ""), str):
        return False
    return all(_is_text_map(metadata.get(key) or {}) for key in ("labels", "annotations"))


def _text_in(metadata: Mapping[str, Any], key: str) -> str:
    value = metadata.get(key)
    return value if isinstance(value, str) else ""


def _has_version(value: object) -> bool:
    """Whether a value is an object, or a list of objects, in a version of its own."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    return isinstance(metadata, dict) and isinstance(metadata.get("resourceVersion"), str)


def _is_text_map(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(part, str) for item in value.items() for part in item)


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _with_dry_run(params: dict[str, str], dry_run: object) -> dict[str, str]:
    return {**params, "dryRun": "All"} if dry_run else params
