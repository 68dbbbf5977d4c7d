"""What families share on the way from a resource to its workload."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..contract.findings.annotations import without_ignore_annotations
from ..contract.findings.collector import Findings, Unrenderable
from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource
from ..engines.command_line import CommandLine, command_line_of
from ..engines.settings import Setting
from ..engines.shell import expanded_variables
from .objects import Object
from .options import Options, PodOverrides
from .origins import Origin, ProblemSource
from .rendered import Rendered
from .workloads import Server

_PARTS = ("leaderTemplate", "workerTemplate")
"""Where a LeaderWorkerSet has its pods."""
_PROFILES = ("appArmorProfile", "seccompProfile")
_CONFINES = {"RuntimeDefault": 1, "Localhost": 2}
"""How much a profile confines, by its type; ``Unconfined`` does not at all. Two files that the kubelet loads from the
node (``Localhost``) cannot be compared."""


def as_manifest(source: LoadedResource, options: Options) -> Object:
    """Return a resource as it is: for an operator, or because it already is a Kubernetes object."""
    written = source.resource.wire()
    if source.kind.namespaced:
        namespace = source.resource.metadata.namespace or options.namespace
        written["metadata"] = {**written["metadata"], "namespace": namespace}
    written["metadata"] = without_ignore_annotations(written["metadata"])
    written.pop("status", None)
    return written


def render_declared(source: LoadedResource, options: Options, operator: str) -> Rendered | None:
    """Return what a resource that others refer to becomes: an object for the operator, natively nothing."""
    if options.realization.is_native:
        return None
    written = as_manifest(source, options)
    namespace = written["metadata"].get("namespace", "") if source.kind.namespaced else ""
    return Rendered(
        source, source.kind.kind, source.name, namespace, others=(written,), requires=frozenset({operator})
    )


def require_containers(group: Object, path: str, findings: Findings, parts: Sequence[str] = _PARTS) -> None:
    """Report templates of a group that have no containers: no pod could be made of them.

    Args:
        group: What has the templates.
        path: Its field; empty for the resource.
        findings: Where to report.
        parts: The fields of the templates; what is not there is not asked for.

    Raises:
        Unrenderable: there are such templates; each is in ``findings``.
    """
    lacking = [
        part
        for part in parts
        if group.get(part) is not None and not (group[part].get("spec") or {}).get("containers")
    ]
    for part in lacking:
        remedy = "add one, or remove the template" if part == "leaderTemplate" else "add one"
        findings.error(f"{path}.{part}.spec.containers", f"must have at least one container, found none; {remedy}")
    if lacking:
        raise Unrenderable


def check_containers(group: Object, path: str, findings: Findings, parts: Sequence[str] = _PARTS) -> None:
    """Report containers of hand-written pods that cannot start, and scripts that run what a Secret holds.

    Args:
        group: What has the templates.
        path: Its field.
        findings: Where to report.
        parts: The fields of the templates.
    """
    for part, template in ((part, group.get(part) or {}) for part in parts):
        spec = template.get("spec") or {}
        for field in ("initContainers", "containers"):
            for position, container in enumerate(spec.get(field) or ()):
                place = f"{path}.{part}.spec.{field}[{position}]"
                if not container.get("image"):
                    reason = "is required: the API server refuses pods with a container that has no image; name one"
                    findings.error(f"{place}.image", reason, RuleId.IMAGE_MISSING)
                _check_script(container, place, findings)


def _check_script(container: Object, place: str, findings: Findings) -> None:
    line = CommandLine("", "", container.get("args") or (), container.get("command") or ())
    if line.lacks_script:
        shell = " ".join(line.words)
        reason = f"is {shell!r}, a shell without the script to run, which exits at once; add the script"
        findings.error(f"{place}.{'command' if line.command else 'args'}", reason, RuleId.FLAGS_MALFORMED)
    secret = _secret_variables(container)
    if not secret or not line.script:
        return
    field = "command" if line.script < len(line.command) else "args"
    for name in sorted(expanded_variables(line.words[line.script]) & secret):
        # Kubernetes expands the variable before the shell starts, so the value becomes part of the script.
        findings.warn(
            f"{place}.{field}",
            f"has $({name}) in the text of a script: Kubernetes writes the value of a Secret there, and the "
            f'shell runs parts of it; write "${name}"',
            RuleId.SECURITY_SCRIPT_SECRET,
        )


def _secret_variables(container: Object) -> set[str]:
    return {each["name"] for each in container.get("env") or () if "secretKeyRef" in (each.get("valueFrom") or {})}


def server_of(
    containers: list[Object],
    source: ProblemSource,
    path: str,
    preferred: str = "",
    lines: Sequence[CommandLine] = (),
) -> Server:
    """Return the serving container of hand-written pods.

    It is the one with a preferred name, otherwise one with a known engine, otherwise the first.

    Args:
        containers: The containers of the pods that take requests.
        source: The resource.
        path: The field that holds the containers.
        preferred: Name of the container that serves, where the kind has one.
        lines: What the containers are started with, where that is known.
    """
    lines = lines or [command_line_of(container) for container in containers]
    named = [position for position, container in enumerate(containers) if container["name"] == preferred]
    known = [position for position, line in enumerate(lines) if line.engine]
    position = (named or known or [0])[0]
    place = f"{path}[{position}]"
    return Server(
        position, lines[position], Origin(source, f"{place}.args"), Origin(source, f"{place}.ports"), is_written=True
    )


def declared_port(container: Object, line: CommandLine) -> int:
    """Return where an engine listens: the port named ``http``, the one it is told, what it declares; else 0."""
    declared: list[Any] = container.get("ports") or []
    named = next((port for port in declared if port.get("name") == "http"), None)
    if named:
        return int(named["containerPort"])
    given = line.number_of(Setting.PORT)
    return given or (int(declared[0]["containerPort"]) if declared else 0)


def override_pod(template: Object, overrides: PodOverrides) -> None:
    """Add what the environment asks of every pod; a template that says otherwise keeps its word."""
    spec = template["spec"]
    if overrides.tolerations:
        own = spec.get("tolerations") or []
        spec["tolerations"] = [*own, *(each for each in overrides.tolerations if each not in own)]
    if overrides.service_account_name:
        spec.setdefault("serviceAccountName", overrides.service_account_name)
    if overrides.image_pull_secrets:
        spec.setdefault("imagePullSecrets", [{"name": name} for name in overrides.image_pull_secrets])
    if overrides.priority_class_name:
        spec.setdefault("priorityClassName", overrides.priority_class_name)
    if overrides.node_selector:
        spec["nodeSelector"] = {**overrides.node_selector, **spec.get("nodeSelector", {})}
    for part, values in (("labels", overrides.labels), ("annotations", overrides.annotations)):
        if values:
            metadata = template.setdefault("metadata", {})
            metadata[part] = {**values, **(metadata.get(part) or {})}


def disable_token_mount(spec: Object) -> None:
    """Keep the token of the namespace's default account out of a pod that names no account: engines never use it."""
    if not spec.get("serviceAccountName"):
        spec.setdefault("automountServiceAccountToken", False)


def deduplicate_env(env: Iterable[Object]) -> list[Object]:
    """Keep the last variable of each name, because the API server accepts each name once."""
    by_name: dict[str, Object] = {}
    for variable in env:
        by_name.pop(variable["name"], None)
        by_name[variable["name"]] = variable
    return list(by_name.values())


def warn_about_duplicate_env(env: Sequence[Object], path: str, findings: Findings) -> None:
    """Warn of variables that a later one of the same name in a list replaces."""
    names = [variable["name"] for variable in env]
    for index, name in enumerate(names):
        if name in names[index + 1 :]:
            findings.warn(
                f"{path}[{index}]",
                f"has no effect: {name} is set again below; remove one of the two",
                RuleId.FIELD_OVERRIDDEN,
            )


def stricter_settings(
    context: Object | None, pod: Object | None = None, dropped: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what a container's security context takes away, for a container that we add beside it.

    Only settings that are stricter than the added container's own: a container's profile replaces that of the pod, so
    a profile that confines less, or cannot be compared, is left out. So are the user and a read-only root filesystem:
    the added container has its own image, which may not work as that user, and it writes files.

    Args:
        context: The security context of the main container.
        pod: The security context of the pod, which the added container inherits.
        dropped: The capabilities that the added container drops anyway.
    """
    context, pod = context or {}, pod or {}
    taken: dict[str, Any] = {}
    for name in _PROFILES:
        profile = context.get(name) or {}
        confines, without = (_CONFINES.get(str(each.get("type")), 0) for each in (profile, pod.get(name) or {}))
        if confines > without:
            taken[name] = profile
    labels = context.get("seLinuxOptions") or {}
    if _is_confined(labels) and not _is_confined(pod.get("seLinuxOptions") or {}):
        taken["seLinuxOptions"] = labels
    if context.get("allowPrivilegeEscalation") is False:
        taken["allowPrivilegeEscalation"] = False
    united = list(dict.fromkeys((*dropped, *((context.get("capabilities") or {}).get("drop") or ()))))
    if united:
        taken["capabilities"] = {"drop": ["ALL"] if "ALL" in united else united}
    return taken


def _is_confined(labels: Object) -> bool:
    """Whether SELinux labels confine a container at least as much as the defaults.

    ``container_t`` is the type of the container runtimes; others, such as ``spc_t``, have more rights.
    The Pod Security Standards refuse a user or a role in every profile but *privileged*.
    """
    every_category = str(labels.get("level", "")).endswith(":c0.c1023")
    plain = labels.get("type") in (None, "", "container_t") and not labels.get("user") and not labels.get("role")
    return bool(labels.get("type") or labels.get("level")) and plain and not every_category
