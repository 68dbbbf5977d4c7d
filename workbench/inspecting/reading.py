"""Reads a snapshot: from an API server, with the verbs get and list, or from YAML files."""

import functools
import http
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from components.contract.documents.files import manifest_files, read_text
from components.contract.documents.reader import YamlError, read_documents
from components.contract.problems import Problem
from components.contract.schema.builtin import is_namespaced
from components.contract.schema.live import normalized
from components.contract.tables import load_table
from components.families import kinds
from components.fleet.objects import Object
from components.fleet.shapes import shape_of
from components.plan.overridden_variables import without_overridden
from components.plan.running_objects import malformed
from toolkit.kube import Kube, KubeError, MalformedObject, MalformedObjectError, NoSuchKindError
from toolkit.kube.errors import MalformedResponseError

from ..errors import WorkbenchError
from .servers import config_maps_of, containers_of, requests_devices, server_of_pod
from .snapshot import ClusterSnapshot, Missing, group_of, is_readable, without_duplicates

_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions")
_CONFIG_MAPS = ("v1", "ConfigMap", "configmaps")
_SECRETS = ("v1", "Secret")
DEFAULT_NAMESPACE = "default"
_STDIN, _STDIN_NAME = "-", "<stdin>"


class ReadKind(NamedTuple):
    """A kind that is read.

    Attributes:
        apis: API versions in which it may be served, the preferred one first.
        tells: What it tells about models.
        crd: Name of the CustomResourceDefinition from which its release is recognized; empty for other kinds.
    """

    kind: str
    plural: str
    apis: tuple[str, ...]
    namespaced: bool
    tells: str
    crd: str = ""

    @property
    def title(self) -> str:
        """``Kind.group``."""
        return f"{self.kind}.{self.apis[0].rpartition('/')[0]}".rstrip(".")


@functools.cache
def read_kinds() -> tuple[ReadKind, ...]:
    """Return the kinds that are read: those of the table, and those of all families."""
    table = [
        ReadKind(row["kind"], row["plural"], tuple(row["api"]), row["scope"] == "namespaced", row["tells"])
        for row in load_table(__package__, "kinds.yaml")
    ]
    of_families = [
        ReadKind(
            kind=kind.kind,
            plural=kind.plural,
            apis=(kind.api_version,),
            namespaced=kind.namespaced,
            tells=f"resources of kind {kind.kind}",
            crd=kind.crd_name if kind.releases.names else "",
        )
        for kind in kinds()
    ]
    return (*table, *of_families)


def read_cluster(kube: Kube, namespaces: Sequence[str] = ()) -> ClusterSnapshot:
    """Read a cluster; what must not be read is in the result.

    Args:
        kube: The client. Only GET requests are sent.
        namespaces: The namespaces to read; all if empty. Cluster-scoped objects are always read.

    Raises:
        WorkbenchError: the server does not answer, or rejects the credentials.
    """
    reader = _ClusterReader(kube, tuple(dict.fromkeys(namespaces)))
    for kind in read_kinds():
        reader.read(kind)
    reader.read_config_maps()
    if reader.malformed and not reader.lists:
        raise WorkbenchError(f"{kube.server} cannot be read: {reader.malformed[0].message}")
    return ClusterSnapshot(
        objects=without_duplicates(reader.objects),
        missing=tuple(dict.fromkeys(reader.missing)),
        absent=tuple(sorted(reader.absent)),
        definitions=tuple(reader.definitions),
        server_version=reader.version(),
        source=kube.server,
        namespaces=reader.namespaces,
        api_groups=reader.api_groups(),
        unread=tuple(problem_of(malformed, kube.server) for malformed in dict.fromkeys(reader.unread)),
    )


def _templates_of(body: Object) -> list[Mapping[str, Any]]:
    """Return the pods of a workload, each as a template; none for what a workload owns."""
    shape = None if body["metadata"].get("ownerReferences") else shape_of(body)
    if shape is None:
        return [body] if body["kind"] == "Pod" and not body["metadata"].get("ownerReferences") else []
    return [template.body for template in shape.pod_templates(body)]


def problem_of(malformed: MalformedObject, server: str) -> Problem:
    """Return an object that cannot be read as a problem of its server."""
    kind, namespace, name, path, reason = malformed
    return Problem(file=server, kind=kind, name=name, path=path, reason=reason, namespace=namespace)


@dataclass(slots=True)
class _ClusterReader:
    kube: Kube
    namespaces: tuple[str, ...]
    objects: list[Object] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    absent: set[str] = field(default_factory=set)
    definitions: list[Object] = field(default_factory=list)
    unread: list[MalformedObject] = field(default_factory=list)
    malformed: list[MalformedResponseError] = field(default_factory=list)
    lists: int = 0
    """Lists that were read: a server that returns none is no API server."""

    def read(self, kind: ReadKind) -> None:
        api_version = self._served(kind)
        if api_version is None:
            return
        group = api_version.rpartition("/")[0]
        for namespace in self.namespaces if kind.namespaced and self.namespaces else ("",):
            try:
                items = self._list(api_version, kind.kind, namespace)
            except KubeError as error:
                self._lack(
                    error,
                    Missing(
                        verb="list",
                        group=group,
                        resource=kind.plural,
                        namespace=namespace,
                        reason=error.message,
                        tells=kind.tells,
                    ),
                )
                continue
            self.lists += 1
            # The server leaves out apiVersion and kind in the items of lists of built-in kinds.
            self.objects += [{**item, "apiVersion": api_version, "kind": kind.kind} for item in items]
        if kind.crd:
            self._read_definition(kind.crd)

    def read_config_maps(self) -> None:
        """Read the ConfigMaps from which servers take variables: these only, each by its name."""
        api_version, kind, plural = _CONFIG_MAPS
        names = {
            (body["metadata"].get("namespace") or "", name)
            for body in self.objects
            for template in _templates_of(body)
            if requests_devices(template) or server_of_pod(template)
            for container in containers_of(template)
            for name in config_maps_of(container)
            if name
        }
        for namespace, name in sorted(names):
            try:
                self.objects.append(self.kube.get(api_version, kind, name, namespace))
            except MalformedObjectError as error:
                self.unread.append(error.malformed)
            except KubeError as error:
                if error.status != http.HTTPStatus.NOT_FOUND:
                    tells = "variables of servers, and models that they name"
                    # One right for all of a namespace, whichever was refused.
                    reason = f"cannot get {name}" if error.status == http.HTTPStatus.FORBIDDEN else error.message
                    self._lack(
                        error,
                        Missing(
                            verb="get", group="", resource=plural, namespace=namespace, reason=reason, tells=tells
                        ),
                    )

    def _served(self, kind: ReadKind) -> str | None:
        """Return the API version in which the server has a kind; None if it has none of them."""
        for api_version in kind.apis:
            try:
                self.kube.resource(api_version, kind.kind)
            except NoSuchKindError:
                continue
            except KubeError as error:
                group = api_version.rpartition("/")[0]
                self._lack(
                    error,
                    Missing(
                        verb="get",
                        group=group,
                        resource=kind.plural,
                        namespace="",
                        reason=error.message,
                        tells=kind.tells,
                    ),
                )
                return None
            return api_version
        self.absent.add(kind.title)
        self._note_other_versions(kind)
        return None

    def _note_other_versions(self, kind: ReadKind) -> None:
        """Report an API group that is served in unknown versions only: its objects exist and are not read."""
        group = kind.apis[0].rpartition("/")[0]
        if not group:
            return
        try:
            served = self.kube.request("GET", f"/apis/{group}")
        except KubeError:
            return  # the server does not have the group
        found = served.get("versions")
        versions = [
            str(version.get("groupVersion"))
            for version in (found if isinstance(found, list) else ())
            if isinstance(version, dict)
        ]
        for api_version in versions:
            if api_version in kind.apis:
                continue
            try:
                self.kube.resource(api_version, kind.kind)
            except KubeError:
                continue
            reason = f"is served as {api_version}, and only {' and '.join(kind.apis)} can be read"
            self.missing.append(
                Missing(
                    verb="list",
                    group=group,
                    resource=kind.plural,
                    namespace="",
                    reason=reason,
                    tells=kind.tells,
                    denied=False,
                )
            )
            return

    def _list(self, api_version: str, kind: str, namespace: str) -> list[Object]:
        try:
            return self.kube.list(api_version, kind, namespace or None, unread=self.unread)
        except KubeError as error:
            if error.status != http.HTTPStatus.GONE:
                raise
        # The list was changed by compaction between two pages; a new one starts at the current state.
        return self.kube.list(api_version, kind, namespace or None, unread=self.unread)

    def _read_definition(self, name: str) -> None:
        api_version, kind, plural = _DEFINITION
        try:
            self.definitions.append(self.kube.get(api_version, kind, name))
        except MalformedObjectError as error:
            self.unread.append(error.malformed)
        except KubeError as error:
            if error.status != http.HTTPStatus.NOT_FOUND:  # an aggregated API has none
                tells = "the releases of the families' APIs"
                group = api_version.rpartition("/")[0]
                # One right for all definitions, whichever was refused.
                reason = f"cannot get {name}" if error.status == http.HTTPStatus.FORBIDDEN else error.message
                self._lack(
                    error, Missing(verb="get", group=group, resource=plural, namespace="", reason=reason, tells=tells)
                )

    def _lack(self, error: KubeError, missing: Missing) -> None:
        if isinstance(error, MalformedResponseError):
            self.malformed.append(error)
        elif error.unreachable or error.status == http.HTTPStatus.UNAUTHORIZED:
            raise WorkbenchError(f"{self.kube.server} cannot be read: {error.message}") from None
        denied = error.status == http.HTTPStatus.FORBIDDEN
        if not any(known.title == missing.title for known in self.missing):
            self.missing.append(missing._replace(denied=denied))

    def api_groups(self) -> frozenset[str]:
        try:
            groups = self.kube.request("GET", "/apis").get("groups")
        except KubeError:
            return frozenset()
        if not isinstance(groups, list):
            return frozenset()
        return frozenset(str(group.get("name")) for group in groups if isinstance(group, dict))

    def version(self) -> str:
        try:
            return str(self.kube.request("GET", "/version").get("gitVersion", ""))
        except KubeError:
            return ""


def read_files(
    paths: Iterable[Path | str], namespace: str = DEFAULT_NAMESPACE
) -> tuple[ClusterSnapshot, list[Problem]]:
    """Read the YAML of ``kubectl get -o yaml`` or ``helm template`` from files and folders; Secrets are skipped.

    Args:
        paths: Files, and folders with everything below them; ``-`` reads stdin.
        namespace: Namespace of namespaced objects that set none.

    Returns:
        The snapshot, and the problems of files that cannot be read.
    """
    problems: list[Problem] = []
    texts: list[tuple[str, str]] = []
    paths = [*paths]
    if _STDIN in map(str, paths):
        text = read_text(sys.stdin.buffer.read, _STDIN_NAME, problems)
        texts += [(_STDIN_NAME, text)] if text is not None else []
    for file in manifest_files((path for path in paths if str(path) != _STDIN), problems):
        text = read_text(file.read_bytes, file, problems)
        texts += [(str(file), text)] if text is not None else []
    snapshot, faults = read_texts(texts, namespace)
    return replace(snapshot, source=", ".join(map(str, paths))), [*problems, *faults]


def read_texts(
    texts: Iterable[tuple[str, str]], namespace: str = DEFAULT_NAMESPACE
) -> tuple[ClusterSnapshot, list[Problem]]:
    """Read YAML texts, each with the name of its origin, as ``read_files`` reads files."""
    problems: list[Problem] = []
    objects: list[Object] = []
    names: list[str] = []
    for name, text in texts:
        names.append(name)
        try:
            for document in read_documents(text):
                for body in _objects_in(document.value):
                    faults = malformed(without_overridden(body, name)[0], name)
                    problems += faults
                    if not faults and (body["apiVersion"], body["kind"]) != _SECRETS:
                        objects.append(_in_namespace(normalized(body), namespace))
        except YamlError as error:
            problems.append(Problem(file=name, line=error.line, path="", reason=error.reason))
    return ClusterSnapshot(without_duplicates(objects), source=", ".join(names)), problems


def _objects_in(value: object) -> Iterator[Object]:
    """Yield the objects of a document: the items of a list, otherwise itself."""
    items = value.get("items") if isinstance(value, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(items, list) and isinstance(kind, str) and kind.endswith("List"):
        singular = {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
        for item in items:
            if isinstance(item, dict):
                yield from _objects_in({**(singular if singular["kind"] else {}), **item})
    elif isinstance(value, dict) and is_readable(value):
        yield value


@functools.cache
def _cluster_scoped() -> frozenset[tuple[str, str]]:
    return frozenset(
        (api.rpartition("/")[0], kind.kind) for kind in read_kinds() for api in kind.apis if not kind.namespaced
    )


def _in_namespace(body: Object, namespace: str) -> Object:
    group, kind = group_of(body), body["kind"]
    scoped = is_namespaced(group, kind) is False or (group, kind) in _cluster_scoped()
    if scoped or body["metadata"].get("namespace"):
        return body
    return {**body, "metadata": {**body["metadata"], "namespace": namespace}}
