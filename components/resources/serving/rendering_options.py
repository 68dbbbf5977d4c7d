"""Rendering options from the arguments of a component, checked as settings of a fleet."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from ...contract.names import is_dns1123_label
from ...contract.problems import field_path
from ...fleet.instances import Instance
from ...fleet.options import Options
from ...plan.faults import SettingsFault, faults
from ...plan.settings import FleetSettings
from .arguments import Arguments

_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "realization": ("realization",),
    "workload": ("workload",),
    "runtimes": ("runtimes",),
    "cache_claim": ("model_cache", "claim"),
    "cache_host_path": ("model_cache", "host_path"),
    "tolerations": ("pods", "tolerations"),
    "service_account_name": ("pods", "service_account_name"),
    "image_pull_secrets": ("pods", "image_pull_secrets"),
    "priority_class_name": ("pods", "priority_class_name"),
    "pod_annotations": ("pods", "annotations"),
    "pod_labels": ("pods", "labels"),
    "wait_until_ready": ("wait_for_models",),
    "ready_timeout": ("timeouts", "models"),
    "instance_types": ("instance_types",),
}
"""Path of the fleet setting of each argument."""
_DEFAULT_NAMESPACE = "default"


def options_of(arguments: Arguments, without: frozenset[str] = frozenset()) -> Options:
    """Return the rendering options, and set what updates wait for and which types are described; records problems.

    Args:
        arguments: The arguments of a component.
        without: Arguments that are fields of the component's kind.
    """
    paths = {key: path for key, path in _SETTINGS.items() if key in arguments.values and key not in without}
    values: dict[str, Any] = {}
    for key, place in paths.items():
        section = values.setdefault(place[0], {}) if place[1:] else values
        section[place[-1]] = arguments.plain(key)
    namespace = arguments.get("namespace", _DEFAULT_NAMESPACE)
    # An invalid name is reported with the resource, whose namespace it is.
    values["namespace"] = namespace if is_dns1123_label(str(namespace)) else _DEFAULT_NAMESPACE
    settings, wrong = _read(values)
    for fault in wrong:
        arguments.add_problem(_argument(fault.path, paths), fault.reason)
    if settings is None:
        return Options()
    arguments.waits, arguments.types = settings.waits(), settings.types
    return settings.options()


def is_autoscaled(
    arguments: Arguments, options: Options, own: Iterable[str] = ("replicas",), *, operated: bool = True
) -> bool:
    """Return whether another component scales this one; records conflicting arguments.

    Args:
        arguments: The arguments of the component.
        options: Its rendering options.
        own: Arguments that set the number of replicas.
        operated: Whether autoscalers can set the replicas of the resource that its operator reads.
    """
    value = arguments.get("autoscaled", False)
    if not isinstance(value, bool):
        arguments.add_problem("autoscaled", f"must be true or false, found {value!r}")
    elif value and not operated and not options.realization.is_native:
        arguments.add_problem(
            "autoscaled", "has no effect with realization 'operator': the operator sets the replicas; remove it"
        )
    for key in own if value is True else ():
        if key in arguments.values:
            arguments.add_problem(
                key,
                "has no effect with autoscaled, by which another component manages the replicas; remove one of the "
                "two",
            )
    return value is True


def read_options(
    values: Mapping[str, Any],
) -> tuple[Options, Mapping[str, Instance], tuple[SettingsFault, ...]]:
    """Return the rendering options and the described types of fleet settings in snake_case, and their problems."""
    settings, wrong = _read(values)
    return settings.options() if settings else Options(), settings.types if settings else {}, wrong


def _read(values: Mapping[str, Any]) -> tuple[FleetSettings | None, tuple[SettingsFault, ...]]:
    try:
        return FleetSettings.model_validate(values, by_name=True, by_alias=False), ()
    except ValidationError as error:
        return None, tuple(faults(error, FleetSettings, by_name=True))


def _argument(path: tuple[str | int, ...], paths: Mapping[str, tuple[str, ...]]) -> str:
    """Return the argument of a setting; of a section, the first argument."""
    for key, setting in paths.items():
        if path[: len(setting)] == setting:
            return field_path((key, *path[len(setting) :]))
    return next((key for key, setting in paths.items() if setting[: len(path)] == path), field_path(path))
