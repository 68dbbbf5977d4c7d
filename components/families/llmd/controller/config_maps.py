"""The ConfigMaps that the controller reads, by names that it has compiled in (WVA spec 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem
from ....fleet.levels import ServiceClass, ServiceLevels, VariantController
from ....fleet.objects import Object
from ..names import CLASSES, COSTS, NAMESPACE, SETTINGS
from .texts import class_document, cost_entry

_MOST_BYTES = 1024 * 1024
"""Of a ConfigMap (kubernetes/kubernetes v1.36.3, pkg/apis/core/types.go: MaxSecretSize)."""
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
    return f"{name.lower()}.yaml"


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


def check_sizes(levels: ServiceLevels, maps: Iterable[Object]) -> Iterator[Problem]:
    """Yield what is too large: the API server counts values, and not their keys (ValidateConfigMap)."""
    for body in maps:
        size, name = sum(len(value.encode()) for value in body["data"].values()), body["metadata"]["name"]
        if size > _MOST_BYTES:
            reason = f"makes ConfigMap {name} {size} bytes, and {_MOST_BYTES} are possible; name fewer models"
            yield Problem(levels.file, 0, "", "", "serviceLevels", reason, rule=RuleId.SETTINGS)
