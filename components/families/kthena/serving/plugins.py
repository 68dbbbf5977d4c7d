"""Plugins of a ModelServing, which change its pods.

Read in volcano-sh/kthena at v1.0.0, pkg/model-serving-controller/plugins.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....contract.findings.ids import RuleId
from ....fleet.objects import Object
from ..types.model_serving import PluginSpec
from .context import ServingContext

_TWEAKS = "demo-pod-tweaks"
_LWS_LABELS = "lws-standard-labels"
_TARGETS = ("All", "Entry", "Worker")
_TWEAK_TYPES: Mapping[str, tuple[type[Any], str]] = {
    "runtimeClassName": (str, "a string"),
    "annotations": (dict, "a map"),
    "env": (list, "a list of environment variables"),
}
"""The settings of demo-pod-tweaks with their types; others are ignored."""


def check_plugins(serving: ServingContext) -> None:
    """Report plugins that do not exist, settings that fail, and those without effect."""
    findings = serving.findings
    roles = [role.name for role in serving.group.roles]
    for index, plugin in enumerate(serving.spec.plugins or ()):
        path = f"spec.plugins[{index}]"
        if plugin.name not in (_TWEAKS, _LWS_LABELS):
            reason = f"must be {_TWEAKS} or {_LWS_LABELS}, the plugins of Kthena's controller, found {plugin.name!r}"
            findings.error(f"{path}.name", reason)
        elif plugin.name == _LWS_LABELS:
            reason = "has no effect: it only labels pods of ModelServings that a LeaderWorkerSet owns; remove it"
            findings.warn(path, reason, RuleId.FIELD_NO_EFFECT)
        else:
            _check_tweaks(serving, f"{path}.config", plugin.config or {})
        if plugin.scope and plugin.scope.target not in (None, "", *_TARGETS):
            reason = f"must be one of {', '.join(_TARGETS)}, found {plugin.scope.target!r}"
            findings.error(f"{path}.scope.target", reason)
        for position, name in enumerate((plugin.scope and plugin.scope.roles) or ()):
            if name not in roles:
                reason = f"names no role; the roles are {', '.join(roles)}, found {name!r}"
                findings.error(f"{path}.scope.roles[{position}]", reason, RuleId.REFERENCE_MISSING)


def _check_tweaks(serving: ServingContext, path: str, config: Mapping[str, Any]) -> None:
    for key, value in config.items():
        if key not in _TWEAK_TYPES:
            reason = f"has no effect: {_TWEAKS} reads {', '.join(_TWEAK_TYPES)}; remove it"
            serving.findings.warn(f"{path}.{key}", reason, RuleId.FIELD_NO_EFFECT)
            continue
        if not _is_valid(key, value):
            serving.findings.error(f"{path}.{key}", f"must be {_TWEAK_TYPES[key][1]}, found {value!r}")


def _is_valid(key: str, value: Any) -> bool:  # noqa: ANN401  any JSON
    return isinstance(value, _TWEAK_TYPES[key][0]) and (
        key != "env" or all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in value)
    )


def apply_plugins(serving: ServingContext, role: str, body: Object, *, entry: bool) -> None:
    """Change the pod template of the entry pods or the workers of a role."""
    for plugin in _running(serving.spec.plugins or (), role, entry=entry):
        written = (plugin.config or {}).items()
        # What is invalid is an error already.
        config = {key: value for key, value in written if value and key in _TWEAK_TYPES and _is_valid(key, value)}
        if "runtimeClassName" in config:
            body["spec"]["runtimeClassName"] = config["runtimeClassName"]
        if "annotations" in config:
            annotations = body["metadata"].get("annotations") or {}
            body["metadata"] = {**body["metadata"], "annotations": {**annotations, **config["annotations"]}}
        if "env" in config:
            added = {variable["name"]: variable for variable in config["env"]}
            for field in ("initContainers", "containers"):
                if body["spec"].get(field):
                    body["spec"][field] = [_with_env(container, added) for container in body["spec"][field]]


def _running(plugins: Iterable[PluginSpec], role: str, *, entry: bool) -> Iterator[PluginSpec]:
    for plugin in plugins:
        scope, part = plugin.scope, "Entry" if entry else "Worker"
        is_in_role = scope is None or not scope.roles or role in scope.roles
        is_in_part = scope is None or scope.target in (None, "", "All", part)
        if plugin.name == _TWEAKS and is_in_role and is_in_part:
            yield plugin


def _with_env(container: Object, added: Mapping[str, Object]) -> Object:
    """Return a container with further variables; of two with one name, the kubelet takes the last."""
    own = [variable for variable in container.get("env") or () if variable["name"] not in added]
    return {**container, "env": [*own, *added.values()]}
