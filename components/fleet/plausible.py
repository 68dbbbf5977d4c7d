"""Checks for amounts that are valid but implausible: bytes without a unit, thousandths of cores, extra digits."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from ..contract.findings.collector import Findings
from ..contract.findings.ids import RuleId
from ..contract.problems import field_path, nearest
from ..contract.quantity import is_quantity, parse_quantity
from .instances import accelerator_resources, fabrics, instances, is_accelerator

Path = tuple[str | int, ...]

_AMOUNTS = ("limits", "requests")
_MEBI, _GIBI, _TEBI = Decimal(2**20), Decimal(2**30), Decimal(2**40)
_LEAST_BYTES = 4 * _MEBI
"""Container runtimes refuse to start a process with less memory than about this."""
_LEAST_ENGINE_BYTES = 256 * _MEBI
"""Memory that every inference engine takes for its own code."""
_LEAST_ENGINE_CORES = Decimal("0.05")
_MANY_CORES = 256
_MANY_BYTES = _TEBI
_MOST_REPLICAS = 500
"""Replicas of one model above which a number is more often a slip than a plan."""
_SIMILAR = 0.85
"""Least similarity of the name of an extended resource and a known one that it misspells."""


def check_amounts(wire: Mapping[str, Any], findings: Findings) -> None:
    """Warn about implausible amounts of a resource, and about resources that no device plugin has."""
    for path, reason, rule in _implausible(wire, ()):
        findings.warn(field_path(path), reason, rule)


_Finding = tuple[Path, str, RuleId]


def _implausible(value: Any, path: Path) -> Iterator[_Finding]:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "resources" and isinstance(inner, dict):
                yield from _of_resources(inner, (*path, key))
            elif key in _AMOUNTS and isinstance(inner, dict) and path[-1:] != ("resources",):
                yield from _of_amounts(inner, (*path, key), serves=_has_devices(inner))
            elif isinstance(inner, int) and _counts_replicas(key) and inner >= _MOST_REPLICAS:
                reason = f"is {inner} replicas, each with its own accelerators; check the number"
                yield (*path, key), reason, RuleId.AMOUNT_IMPLAUSIBLE
            if isinstance(inner, (dict, list)) and key not in _AMOUNTS:
                yield from _implausible(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _implausible(inner, (*path, index))


def _of_resources(resources: Mapping[str, Any], path: Path) -> Iterator[_Finding]:
    """Check the resources of a container, or of a server whose API has amounts directly below."""
    parts = {key: resources[key] for key in _AMOUNTS if isinstance(resources.get(key), dict)}
    if not parts:
        yield from _of_amounts(resources, path, serves=True)
    serves = any(map(_has_devices, parts.values()))
    for key, amounts in parts.items():
        yield from _of_amounts(amounts, (*path, key), serves=serves)


def _of_amounts(amounts: Mapping[str, Any], path: Path, *, serves: bool) -> Iterator[_Finding]:
    for key, amount in amounts.items():
        name = key.lower()
        reason = ""
        if isinstance(amount, bool) or not is_quantity(amount):
            continue
        if name.endswith(("memory", "storage")):
            reason = _of_bytes(str(amount), serves=serves and name.endswith("memory"))
        elif name == "cpu":
            reason = _of_cores(str(amount), serves=serves)
        elif path[-1] in _AMOUNTS and (near := _misspelled(key)):
            reason = f"is the resource of no device, so that no node has it; did you mean {near!r}?"
            yield (*path, key), reason, RuleId.NAME_MISSPELLED
            continue
        if reason:
            yield (*path, key), reason, RuleId.AMOUNT_IMPLAUSIBLE


def _of_bytes(text: str, *, serves: bool) -> str:
    number = parse_quantity(text)
    least = _LEAST_ENGINE_BYTES if serves else _LEAST_BYTES
    if 0 < number < least:
        if text.isdecimal():
            return f"is {text!r}, which are {text} bytes; write '{text}Gi' for gibibytes, or '{text}Mi' for mebibytes"
        if text.endswith("m"):
            digits = text.removesuffix("m")
            return f"is {text!r}, which are thousandths of a byte; write '{digits}Mi', or '{digits}Gi'"
        digits = text.rstrip("kKMiu")
        who = "an inference engine" if serves else "a process"
        least_text = f"{int(least / _MEBI)}Mi"
        return f"is {text!r}, less than {who} needs to start ({least_text}); did you mean '{digits}Gi'?"
    if number > _MANY_BYTES:
        most = max(node.memory_gib for node in instances().values()) * _GIBI
        if number > most:
            return (
                f"is {text!r}, more than any instance type has ({most / _GIBI:.0f}Gi); check the number and the unit"
            )
    return ""


def _of_cores(text: str, *, serves: bool) -> str:
    number = parse_quantity(text)
    if number >= _MANY_CORES and number > max(node.vcpu for node in instances().values()):
        most = max(node.vcpu for node in instances().values())
        fix = f"; write '{number:f}m' for {(number / 1000).normalize():f} cores" if number >= 1000 else ""
        return f"is {number:f} cores, more than any instance type has ({most}){fix or '; check the number'}"
    if serves and 0 < number < _LEAST_ENGINE_CORES and text.endswith("m"):
        digits = text.removesuffix("m")
        return f"is {text!r}, which are thousandths of a core; write '{digits}' for {digits} cores"
    return ""


def _has_devices(amounts: Mapping[str, Any]) -> bool:
    return any("/" in key for key in amounts)


def _misspelled(key: str) -> str:
    """Return the extended resource that a key misspells; empty for known ones and for those of other devices."""
    if is_accelerator(key) or key in fabrics():
        return ""
    if "/" in key:
        return nearest(key, sorted({*accelerator_resources(), *fabrics()}), _SIMILAR)
    # Kubernetes has no resource without a domain of these names.
    makers = [name for name in sorted(accelerator_resources()) if key.lower() in name and len(key) > 2]
    return makers[-1] if makers else ""


def _counts_replicas(key: str) -> bool:
    return key == "replicas" or key.endswith("Replicas")
