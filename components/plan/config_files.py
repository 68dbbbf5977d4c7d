"""The configuration files of servers, if they come from ConfigMaps among the manifests.

Rendering reads arguments alone. Everything after it reads those of the file as well, with the key of the ConfigMap as
their field (:mod:`..engines.config_file`).
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..contract.findings.ids import RuleId
from ..contract.load import OtherObject
from ..contract.problems import Problem, Severity, field_path
from ..contract.texts.secrets import masked_text, quoted_texts
from ..engines.config_file import config_findings, config_path, is_ignored, read_config
from ..engines.scripts.commands import engine_line
from ..engines.served.names import served_names
from ..engines.settings import Setting
from ..fleet.objects import Object
from ..fleet.origins import Origin
from ..fleet.rendered import Rendered
from ..fleet.workloads import Workload

ConfigMaps = Mapping[tuple[str, str], OtherObject]
"""ConfigMaps by namespace and name."""


class _Key(NamedTuple):
    """A key of a ConfigMap that is mounted as a file."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class _ConfigSource:
    """A ConfigMap whose key has arguments: messages hide what they would hide of a container's arguments.

    Of other ConfigMaps, messages show nothing.
    """

    other: OtherObject
    words: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.other.title

    def problem(
        self, path: str, reason: str, severity: Severity = Severity.ERROR, rule: RuleId = RuleId.CONTRACT
    ) -> Problem:
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"args": list(self.words)}]}}
        reason = masked_text(reason, quoted_texts(pod))
        return replace(self.other.problem(path, "", severity, rule), reason=reason)

    def written(self, path: str) -> str:
        return path


class _Unknown(NamedTuple):
    """Why the content of a file is not known, as a predicate of the flag that names it."""

    reason: str


def config_maps(others: Iterable[OtherObject], namespace: str) -> ConfigMaps:
    """Return the ConfigMaps among objects of other APIs.

    Args:
        others: The objects.
        namespace: Namespace of objects that set none.
    """
    found = {}
    for other in others:
        metadata = other.value.get("metadata")
        if (other.value.get("apiVersion"), other.value.get("kind")) == ("v1", "ConfigMap") and metadata:
            found[str(metadata.get("namespace") or namespace), str(metadata.get("name"))] = other
    return found


def with_config_files(items: Sequence[Rendered], known: ConfigMaps, problems: list[Problem]) -> tuple[Rendered, ...]:
    """Return what is rendered, with the arguments in the configuration files of its servers.

    Args:
        items: The rendered resources.
        known: The ConfigMaps whose content is known.
        problems: Collects the problems of the files.
    """
    return tuple(
        _named(replace(item, workloads=tuple(_with_config(item, each, known, problems) for each in item.workloads)))
        if any(config_path(workload.server.line) is not None for workload in item.workloads)
        else item
        for item in items
    )


def _with_config(item: Rendered, workload: Workload, known: ConfigMaps, problems: list[Problem]) -> Workload:
    server = workload.server
    path = config_path(server.line)
    if path is None:
        return workload
    if is_ignored(server.line):
        flag = f"{path!r} is not read, because it is joined to its flag by =; write them as two arguments"
        problems.append(server.field_of(Setting.CONFIG_FILE).problem(flag, rule=RuleId.FIELD_NO_EFFECT))
        return replace(workload, server=replace(server, line=server.line.with_config(())))
    place = _place(path, workload.front["spec"], workload.container)
    other = known.get((workload.namespace, place.name)) if isinstance(place, _Key) else None
    if isinstance(place, _Key) and other is None:
        place = _Unknown(
            f"takes further settings from the key {place.key!r} of ConfigMap {place.name!r}, which is not among the "
            "manifests"
        )
    if isinstance(place, _Unknown):
        return replace(workload, server=replace(server, line=server.line.with_config((), place.reason)))
    assert other is not None  # noqa: S101  as above
    data = other.value.get("data")
    text = data.get(place.key) if isinstance(data, Mapping) else None
    if not isinstance(text, str):
        if place.key not in (other.value.get("binaryData") or {}):
            reason = (
                f"{path} is the key {place.key!r} of ConfigMap {place.name!r}, which has no such key, so that the "
                "server does not start; add it, or correct the path"
            )
            problems.append(server.field_of(Setting.CONFIG_FILE).problem(reason, rule=RuleId.START_REFUSED))
        reason = f"takes further settings from {path}, whose content is not text"
        return replace(workload, server=replace(server, line=server.line.with_config((), reason)))
    file = read_config(server.line, path, text)
    words = tuple(word.text for word in file.words)
    source, lead = _ConfigSource(other, words), f"read by {item.title} as its configuration file: "

    def origin(key: str) -> Origin:
        return Origin(source, field_path(filter(None, ("data", place.key, key))), lead)

    expanded = server.line.with_config(words)
    config = tuple(origin(word.key) for word in file.words)
    changed = replace(workload, server=replace(server, line=expanded, config=config))
    problems += (origin(fault.key).problem(fault.reason, fault.severity, fault.rule) for fault in file.faults)
    problems += (
        changed.server.argument(finding.position).problem(finding.reason, finding.severity, finding.rule)
        for finding in config_findings(server.line, expanded)
    )
    problems += _port_problems(workload, changed)
    return changed


def _port_problems(before: Workload, after: Workload) -> Iterator[Problem]:
    """Report a port in the file: Services and probes are rendered from the arguments alone."""
    line = engine_line(after.server.line) or after.server.line
    port = line.number_of(Setting.PORT)
    if after.port and port not in (None, after.port) and not before.server.line.holds(Setting.PORT):
        yield after.server.field_of(Setting.PORT).problem(
            f"sets port {port}, but requests and probes go to {after.port}; set the port in the arguments instead",
            rule=RuleId.ACCESS_NO_PORT,
        )


def _named(item: Rendered) -> Rendered:
    """Return what is rendered, with the names of the models that configuration files name."""
    names: dict[str, str] = {}
    workloads = []
    for workload in item.workloads:
        served = served_names(workload.server.line) if workload.server.config else ()
        if served and workload.model not in served:
            names[workload.model] = served[0]
            workload = replace(workload, model=served[0])
        workloads.append(workload)
    if not names:
        return item
    endpoints = tuple(
        replace(each, model=names[each.model]) if each.model in names else each for each in item.endpoints
    )
    return replace(item, workloads=tuple(workloads), endpoints=endpoints)


def _place(path: str, spec: Object, container: Object) -> _Key | _Unknown:
    """Return where a file of a container comes from."""
    if "$" in path:
        return _Unknown(f"takes further settings from {path}, which is filled in later")
    if not path.startswith("/"):
        folder = container.get("workingDir")
        if not folder:
            return _Unknown(f"takes further settings from {path} in the working directory of the image")
        path = posixpath.join(str(folder), path)
    path = posixpath.normpath(path)
    best: tuple[int, Object, str] | None = None
    for mount in container.get("volumeMounts") or ():
        at = posixpath.normpath(str(mount.get("mountPath")))
        if path != at and not path.startswith(f"{at.rstrip('/')}/"):
            continue
        inside = posixpath.join(str(mount.get("subPath") or ""), path[len(at) :].lstrip("/")).rstrip("/")
        if best is None or len(at) > best[0]:
            best = len(at), mount, inside
    if best is None:
        return _Unknown(f"takes further settings from {path}, a file of the image")
    _, mount, inside = best
    volumes = {str(volume.get("name")): volume for volume in spec.get("volumes") or ()}
    volume = volumes.get(str(mount.get("name"))) or {}
    sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
    for source in sources:
        reference = source.get("configMap")
        if not reference:
            continue
        items = reference.get("items")
        keys = {str(entry.get("path")): str(entry.get("key")) for entry in items or ()}
        if inside in keys or not items:
            return _Key(str(reference.get("name")), keys.get(inside, inside))
    kind = next((key for key in volume if key != "name"), "unknown")
    return _Unknown(f"takes further settings from {path} in a volume ({kind}), which is not read")
