"""The ConfigMaps that the controller reads under compiled-in names (WVA spec 4).

It parses their values with Go: JSON with encoding/json, YAML with gopkg.in/yaml.v3 (c0f645c, go.mod).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem
from ....fleet.levels import ServiceClass, ServiceLevels, VariantController
from ....fleet.objects import Object
from ..names import CLASSES, COSTS, NAMESPACE
from .installation import ControllerInstallation

_MAX_BYTES = 1024 * 1024
"""Size limit of a ConfigMap (kubernetes/kubernetes v1.36.3, pkg/apis/core/types.go: MaxSecretSize)."""
_BASE_URL, _SKIP_VERIFY = "PROMETHEUS_BASE_URL", "PROMETHEUS_TLS_INSECURE_SKIP_VERIFY"
_SCALE_TO_ZERO, _INTERVAL = "WVA_SCALE_TO_ZERO", "GLOBAL_OPT_INTERVAL"
MANDATORY = (_BASE_URL, _SKIP_VERIFY, _SCALE_TO_ZERO)
"""Settings that the controller gets as environment variables; its pods do not start without them."""
_UNQUOTED = re.compile(r"[A-Za-z][A-Za-z0-9]*([./_-][A-Za-z0-9]+)*\Z", re.ASCII)
_KEYWORDS = frozenset({"y", "yes", "n", "no", "true", "false", "on", "off", "null"})
"""Words, in any case, that YAML 1.1 or 1.2 does not read as strings."""


def costs_map(prices: Mapping[str, tuple[str, str]]) -> Object:
    """Return the ConfigMap of accelerator prices.

    Args:
        prices: By accelerator, the product in node labels and the price of one in cents per hour, as text.
    """
    return _config_map(COSTS, {name: cost_entry(*price) for name, price in sorted(prices.items())})


def cost_entry(device: str, cents_per_hour: str) -> str:
    """Return an accelerator's entry as JSON. All values must be strings, or the controller refuses the whole map."""
    return json.dumps({"device": _encodable(device), "cost": cents_per_hour}, ensure_ascii=False)


def classes_map(classes: Sequence[ServiceClass]) -> Object:
    """Return the ConfigMap of service classes, one key per class."""
    documents = {class_key(service_class.name): class_document(service_class) for service_class in classes}
    return _config_map(CLASSES, dict(sorted(documents.items())))


def class_key(name: str) -> str:
    """Return the key of a service class."""
    return f"{name.lower()}.yaml"


def class_document(service_class: ServiceClass) -> str:
    """Return a service class as YAML. Milliseconds must be bare integers: Go cannot parse quoted ones."""
    lines = [
        f"name: {scalar(service_class.name)}",
        f"priority: {service_class.priority}",
        "data:" if service_class.targets else "data: []",
    ]
    for model, targets in sorted(service_class.targets.items()):
        lines += [
            f"  - model: {scalar(model)}",
            f"    slo-tpot: {targets.itl_ms}",
            f"    slo-ttft: {targets.ttft_ms}",
        ]
    return "".join(f"{line}\n" for line in lines)


def scalar(text: str) -> str:
    """Return a YAML string, quoted unless it can be read as nothing else."""
    if _UNQUOTED.match(text) and text.lower() not in _KEYWORDS:
        return text
    return f'"{"".join(map(_escaped, _encodable(text)))}"'


def _encodable(text: str) -> str:
    # Settings may contain lone surrogates, which cannot be encoded as UTF-8.
    return text.encode(errors="replace").decode()


def _escaped(character: str) -> str:
    """Escape a character between double quotes, where YAML folds the line breaks of Unicode."""
    if character in '"\\':
        return f"\\{character}"
    if character == " " or character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"


def settings_map(controller: VariantController, installation: ControllerInstallation) -> Object:
    """Return the ConfigMap of settings with every key; the controller scales to zero unless set to ``false``."""
    data = {
        _BASE_URL: controller.prometheus,
        _SKIP_VERIFY: str(controller.skip_verify).lower(),
        _SCALE_TO_ZERO: str(controller.scale_to_zero).lower(),
        _INTERVAL: controller.interval,
    }
    return _config_map(installation.settings, data)


def _config_map(name: str, data: Mapping[str, str]) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def check_sizes(levels: ServiceLevels, maps: Iterable[Object]) -> Iterator[Problem]:
    """Yield ConfigMaps that are too large; the API server counts values only, not keys (ValidateConfigMap)."""
    for body in maps:
        size, name = sum(len(value.encode()) for value in body["data"].values()), body["metadata"]["name"]
        if size > _MAX_BYTES:
            reason = f"makes ConfigMap {name} {size} bytes, but {_MAX_BYTES} is the limit; name fewer models"
            yield Problem(file=levels.file, path="serviceLevels", reason=reason, rule=RuleId.SETTINGS)
