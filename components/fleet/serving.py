"""Helpers that families share for rendering resources to workloads."""

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
from .workloads import ImageField, Server

_PARTS = ("leaderTemplate", "workerTemplate")
"""The pod templates of a LeaderWorkerSet."""
_PROFILES = ("appArmorProfile", "seccompProfile")
_STRICTNESS = {"RuntimeDefault": 1, "Localhost": 2}
"""Strictness by profile type; ``Unconfined`` is 0. Two ``Localhost`` profiles are files of the node, which cannot be
compared."""


def as_manifest(source: LoadedResource, options: Options) -> Object:
    """Return the manifest of a resource with its namespace, without suppression annotations and status."""
    manifest = source.resource.wire()
    if source.kind.namespaced:
        namespace = source.resource.metadata.namespace or options.namespace
        manifest["metadata"] = {**manifest["metadata"], "namespace": namespace}
    manifest["metadata"] = without_ignore_annotations(manifest["metadata"])
    manifest.pop("status", None)
    return manifest


def render_declared(source: LoadedResource, options: Options, operator: str) -> Rendered | None:
    """Render a resource without workloads that others refer to: the object for an operator, natively nothing."""
    if options.realization.is_native:
        return None
    manifest = as_manifest(source, options)
    namespace = manifest["metadata"].get("namespace", "") if source.kind.namespaced else ""
    return Rendered(
        source, source.kind.kind, source.name, namespace, others=(manifest,), requires=frozenset({operator})
    )


def require_containers(group: Object, path: str, findings: Findings, parts: Sequence[str] = _PARTS) -> None:
    """Reject pod templates of a group without containers.

    Args:
        group: The object with the templates.
        path: Its field; empty for the resource.
        findings: Collects the problems.
        parts: The template fields; absent ones are skipped.

    Raises:
        Unrenderable: a template has no containers; each is in ``findings``.
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
    """Report containers of hand-written pods that cannot start, and scripts that execute the value of a Secret.

    Args:
        group: The object with the templates.
        path: Its field.
        findings: Collects the problems.
        parts: The template fields.
    """
    for part, template in ((part, group.get(part) or {}) for part in parts):
        spec = template.get("spec") or {}
        for field in ("initContainers", "containers"):
            for position, container in enumerate(spec.get(field) or ()):
                field_path = f"{path}.{part}.spec.{field}[{position}]"
                if not container.get("image"):
                    reason = "is required: the API server refuses pods with a container that has no image; name one"
                    findings.error(f"{field_path}.image", reason, RuleId.IMAGE_MISSING)
                _check_script(container, field_path, findings)


def _check_script(container: Object, field_path: str, findings: Findings) -> None:
    line = CommandLine("", "", container.get("args") or (), container.get("command") or ())
    if line.lacks_script:
        shell = " ".join(line.words)
        reason = f"is {shell!r}, a shell without the script to run, which exits at once; add the script"
        findings.error(f"{field_path}.{'command' if line.command else 'args'}", reason, RuleId.FLAGS_MALFORMED)
    env = container.get("env") or ()
    secret = {variable["name"] for variable in env if "secretKeyRef" in (variable.get("valueFrom") or {})}
    if not secret or not line.script:
        return
    field = "command" if line.script < len(line.command) else "args"
    for name in sorted(expanded_variables(line.words[line.script]) & secret):
        # Kubernetes expands the variable before the shell starts, so the value becomes part of the script.
        findings.warn(
            f"{field_path}.{field}",
            f"has $({name}) in the text of a script: Kubernetes writes the value of a Secret there, and the "
            f'shell runs parts of it; write "${name}"',
            RuleId.SECURITY_SCRIPT_SECRET,
        )


def server_of(
    containers: list[Object],
    source: ProblemSource,
    path: str,
    preferred: str = "",
    lines: Sequence[CommandLine] = (),
) -> Server:
    """Return the serving container of hand-written pods.

    It is the one with the preferred name, otherwise the first with a known engine, otherwise the first.

    Args:
        containers: The containers of the pods that receive requests.
        source: The resource.
        path: The field with the containers.
        preferred: Name of the serving container, if the kind defines one.
        lines: Command lines of the containers, if they are parsed already.
    """
    lines = lines or [command_line_of(container) for container in containers]
    named = [position for position, container in enumerate(containers) if container["name"] == preferred]
    known = [position for position, line in enumerate(lines) if line.engine]
    position = (named or known or [0])[0]
    argument_path = f"{path}[{position}]"
    return Server(
        position,
        lines[position],
        Origin(source, f"{argument_path}.args"),
        Origin(source, f"{argument_path}.ports"),
        ImageField(Origin(source, f"{argument_path}.image")),
        is_written=True,
    )


def declared_port(container: Object, line: CommandLine) -> int:
    """Return the port named ``http``, else that of the command line, else the first declared one, else 0."""
    declared: list[Any] = container.get("ports") or []
    named = next((port for port in declared if port.get("name") == "http"), None)
    if named:
        return int(named["containerPort"])
    return line.number_of(Setting.PORT) or (int(declared[0]["containerPort"]) if declared else 0)


def override_pod(template: Object, overrides: PodOverrides) -> None:
    """Apply the environment's pod settings to a template; values that the template sets take precedence."""
    spec = template["spec"]
    if overrides.tolerations:
        own = spec.get("tolerations") or []
        spec["tolerations"] = [*own, *(toleration for toleration in overrides.tolerations if toleration not in own)]
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
    """Do not mount the token of the default service account; engines never use it."""
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
    """Warn about variables that a later one of the same name overrides."""
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
    """Return the restrictions of a container's security context that an added container beside it should share.

    Only settings that are stricter than those of the pod: a container's profile replaces that of the pod, so a
    profile that is less strict, or cannot be compared, is left out. So are the user and a read-only root filesystem:
    the added container has another image, which may not run as that user, and it writes files.

    Args:
        context: Security context of the main container.
        pod: Security context of the pod, which the added container inherits.
        dropped: Capabilities that the added container drops in any case.
    """
    context, pod = context or {}, pod or {}
    settings: dict[str, Any] = {}
    for name in _PROFILES:
        profile = context.get(name) or {}
        own, inherited = (_STRICTNESS.get(str(p.get("type")), 0) for p in (profile, pod.get(name) or {}))
        if own > inherited:
            settings[name] = profile
    labels = context.get("seLinuxOptions") or {}
    if _is_confined(labels) and not _is_confined(pod.get("seLinuxOptions") or {}):
        settings["seLinuxOptions"] = labels
    if context.get("allowPrivilegeEscalation") is False:
        settings["allowPrivilegeEscalation"] = False
    capabilities = list(dict.fromkeys((*dropped, *((context.get("capabilities") or {}).get("drop") or ()))))
    if capabilities:
        settings["capabilities"] = {"drop": ["ALL"] if "ALL" in capabilities else capabilities}
    return settings


def _is_confined(labels: Object) -> bool:
    """Return whether SELinux labels restrict a container at least as much as the defaults."""
    # container_t is the type that container runtimes use; others, such as spc_t, have more rights. The Pod Security
    # Standards forbid a user or a role in every profile but "privileged".
    every_category = str(labels.get("level", "")).endswith(":c0.c1023")
    standard = labels.get("type") in (None, "", "container_t") and not labels.get("user") and not labels.get("role")
    return bool(labels.get("type") or labels.get("level")) and standard and not every_category
