"""The ConfigMaps that the controller reads, by names that it has compiled in (WVA spec 4)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....api.problems import Problem
from ....fleet.objects import Object
from ....sizing.levels import ServiceClass, ServiceLevels, VariantController
from ..names import CLASSES, COSTS, NAMESPACE, SETTINGS
from .texts import class_document, cost_entry

_KEY = re.compile(r"[-._a-zA-Z0-9]+\Z", re.ASCII)
_KEY_LENGTH = 253
_SUFFIX = ".yaml"
_MOST_BYTES = 1024 * 1024
"""Of a ConfigMap, keys and values together (kubernetes/kubernetes v1.36.3, pkg/apis/core/types.go: MaxSecretSize)."""
_BASE_URL, _SKIP_VERIFY = "PROMETHEUS_BASE_URL", "PROMETHEUS_TLS_INSECURE_SKIP_VERIFY"
_SCALE_TO_ZERO, _INTERVAL = "WVA_SCALE_TO_ZERO", "GLOBAL_OPT_INTERVAL"
MANDATORY = (_BASE_URL, _SKIP_VERIFY, _SCALE_TO_ZERO)
"""Settings that reach the controller as environment variables: without one of them its pods do not start."""


def costs_map(prices: Mapping[str, tuple[str, str]]) -> Object:
    """Return what accelerators cost.

    Args:
        prices: By name, the product in the labels of nodes, and cents an hour for one as text.
    """
    return _config_map(COSTS, {name: cost_entry(*price) for name, price in sorted(prices.items())})


def classes_map(classes: Sequence[ServiceClass]) -> Object:
    """Return the service classes, each in a key of its own."""
    documents = {class_key(each.name): class_document(each) for each in classes}
    return _config_map(CLASSES, dict(sorted(documents.items())))


def class_key(name: str) -> str:
    """Return the key of a service class."""
    return f"{name.lower()}{_SUFFIX}"


def settings_map(controller: VariantController) -> Object:
    """Return the controller's settings. All keys are always there; anything but ``false`` scales to zero."""
    data = {
        _BASE_URL: controller.prometheus,
        _SKIP_VERIFY: _flag(controller.skip_verify),
        _SCALE_TO_ZERO: _flag(controller.scale_to_zero),
        _INTERVAL: controller.interval,
    }
    return _config_map(SETTINGS, data)


def _flag(value: bool) -> str:  # noqa: FBT001  a value, not an option
    return "true" if value else "false"


def _config_map(name: str, data: Mapping[str, str]) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def check_maps(levels: ServiceLevels, maps: Iterable[Object]) -> Iterator[Problem]:
    """Yield classes that cannot have a key of their own, and what is too large."""
    seen: dict[str, str] = {}
    for position, each in enumerate(levels.classes):
        path, key = f"serviceLevels.classes[{position}].name", class_key(each.name)
        if not is_config_map_key(key):
            reason = f"{each.name!r} cannot be in a key of ConfigMap {CLASSES}; use letters, digits, '-', '_' and '.'"
            yield _problem(levels, path, f"{reason}, {_KEY_LENGTH - len(_SUFFIX)} at most")
        elif key in seen:
            reason = f"{each.name!r} and {seen[key]!r} have the same key of ConfigMap {CLASSES}, {key}; rename one"
            yield _problem(levels, path, reason)
        seen.setdefault(key, each.name)
    for body in maps:
        # The API server counts values, and not their keys (pkg/apis/core/validation: ValidateConfigMap).
        size, name = sum(len(value.encode()) for value in body["data"].values()), body["metadata"]["name"]
        if size > _MOST_BYTES:
            reason = f"makes ConfigMap {name} {size} bytes, and {_MOST_BYTES} are possible; name fewer models"
            yield _problem(levels, "serviceLevels", reason)


def is_config_map_key(key: str) -> bool:
    """Tell whether the API server takes a key (k8s.io/apimachinery, pkg/util/validation: IsConfigMapKey)."""
    return len(key) <= _KEY_LENGTH and _KEY.match(key) is not None and not key.startswith("..")


def _problem(levels: ServiceLevels, path: str, reason: str) -> Problem:
    return Problem(levels.file, 0, "", "", path, reason)
