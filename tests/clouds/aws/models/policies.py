"""Checks the form of IAM policies, of which botocore's models know only the length; ``authorization`` their sense."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.engine.values import UNKNOWN

IDENTITY, TRUST, RESOURCE = "identity", "trust", "resource"
"""What may be done by whom it is attached to; who may take the role; who may do what with the one resource."""
LONGEST_MANAGED, LONGEST_INLINE, LONGEST_TRUST = 6144, 10240, 2048
"""IAM quotas, in characters without white space; inline, all those of a role together."""

_VERSION = "2012-10-17"
_ACTION = re.compile(r"[a-z0-9-]+:[A-Za-z*?]+")
_ARN = re.compile(r"(\*|arn:(aws[a-z-]*|\*):[a-z0-9*-]+:[a-z0-9*-]*:(\d{12}|aws|\*|):.+)")
_SERVICE = re.compile(r"[a-z0-9.-]+\.amazonaws\.com(\.cn)?")
_ACCOUNT = re.compile(r"\d{12}")
_MEMBERS = {
    *("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition"),
}
_OPERATORS = {
    *("StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase"),
    *("StringLike", "StringNotLike", "NumericEquals", "NumericNotEquals", "NumericLessThan"),
    *("NumericLessThanEquals", "NumericGreaterThan", "NumericGreaterThanEquals", "DateEquals", "DateNotEquals"),
    *("DateLessThan", "DateLessThanEquals", "DateGreaterThan", "DateGreaterThanEquals", "Bool", "BinaryEquals"),
    *("IpAddress", "NotIpAddress", "ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike"),
}


def policy_problems(kind: str, text: Any, longest: int | None = None) -> list[str]:
    """Return what is wrong with a policy document, given as the text that is sent."""
    if text is UNKNOWN or text is None:
        return []
    try:
        document = json.loads(text)
    except (TypeError, ValueError) as error:
        return [f"policy is not JSON: {error}"]
    found = [f"policy: {problem}" for problem in _document(kind, document)]
    size = len(re.sub(r"\s", "", text))
    if longest is not None and size > longest:
        found.append(f"policy: has {size} characters, {longest} are allowed")
    return found


def _document(kind: str, document: Any) -> Iterator[str]:
    if not isinstance(document, dict):
        yield f"found {document!r}, allowed is an object"
        return
    for name in sorted(document.keys() - {"Version", "Id", "Statement"}):
        yield f"{name} is unknown"
    if document.get("Version") != _VERSION:
        yield f"Version: found {document.get('Version')!r}, write {_VERSION}"
    statements = _listed(document.get("Statement"))
    if not statements:
        yield "Statement: is required"
    sids = [statement["Sid"] for statement in statements if isinstance(statement, dict) and "Sid" in statement]
    for sid in sorted({sid for sid in sids if sids.count(sid) > 1}):
        yield f"Sid {sid!r} is there {sids.count(sid)} times"
    for index, statement in enumerate(statements):
        yield from (f"Statement[{index}].{problem}" for problem in _statement(kind, statement))


def _statement(kind: str, statement: Any) -> Iterator[str]:
    if not isinstance(statement, dict):
        yield f": found {statement!r}, allowed is an object"
        return
    for name in sorted(statement.keys() - _MEMBERS):
        yield f"{name} is unknown"
    if statement.get("Effect") not in ("Allow", "Deny"):
        yield f"Effect: found {statement.get('Effect')!r}, allowed are Allow, Deny"
    if not re.fullmatch("[A-Za-z0-9]*" if kind == IDENTITY else "[A-Za-z0-9 _-]*", str(statement.get("Sid", ""))):
        yield f"Sid: found {statement['Sid']!r}, allowed are letters and digits"
    for name in (("Action", "NotAction"), ("Principal", "NotPrincipal"), ("Resource", "NotResource")):
        yield from _one_of(kind, name, statement)
    for action in _listed(statement.get("Action", statement.get("NotAction", []))):
        if action != "*" and not (isinstance(action, str) and _ACTION.fullmatch(action)):
            yield f"Action: found {action!r}, allowed is service:Name"
    for resource in _listed(statement.get("Resource", statement.get("NotResource", []))):
        if not (isinstance(resource, str) and _ARN.fullmatch(resource)):
            yield f"Resource: found {resource!r}, allowed are ARNs and *"
    yield from _principal(statement.get("Principal", statement.get("NotPrincipal", {})))
    yield from _condition(statement.get("Condition", {}))


def _one_of(kind: str, names: tuple[str, str], statement: Mapping[str, Any]) -> Iterator[str]:
    there = [name for name in names if name in statement]
    forbidden = {IDENTITY: "Principal", TRUST: "Resource"}.get(kind) == names[0]
    if forbidden and there:
        yield f"{there[0]}: is not allowed in this kind of policy"
    elif not forbidden and len(there) != 1:
        yield f"{names[0]}: exactly one of {' and '.join(names)} is required"
    elif there and not statement[there[0]]:
        yield f"{there[0]}: is empty"


def _principal(principal: Any) -> Iterator[str]:
    if principal == "*":
        return
    if not isinstance(principal, dict):
        yield f"Principal: found {principal!r}, allowed are * and an object"
        return
    for kind, values in principal.items():
        for value in _listed(values):
            if not _is_principal(kind, str(value)):
                yield f"Principal.{kind}: found {value!r}"


def _is_principal(kind: str, value: str) -> bool:
    if kind == "Service":
        return bool(_SERVICE.fullmatch(value))
    if kind == "AWS":
        return bool(_ARN.fullmatch(value) or _ACCOUNT.fullmatch(value))
    if kind == "Federated":
        return value.startswith("arn:") or "." in value
    return kind == "CanonicalUser"


def _condition(condition: Any) -> Iterator[str]:
    if not isinstance(condition, dict):
        yield f"Condition: found {condition!r}, allowed is an object"
        return
    for operator, tests in condition.items():
        base = re.sub(r"^(ForAllValues|ForAnyValue):", "", operator)
        if base != "Null" and base.removesuffix("IfExists") not in _OPERATORS:
            yield f"Condition: {operator!r} is no operator"
        if not (isinstance(tests, dict) and tests):
            yield f"Condition.{operator}: found {tests!r}, allowed is an object of keys and values"
            continue
        for key, value in tests.items():
            yield from _condition_value(operator, key, value)


def _condition_value(operator: str, key: str, value: Any) -> Iterator[str]:
    if not re.fullmatch(r"[^\s:]+:\S+", key):
        yield f"Condition.{operator}: found the key {key!r}, allowed is prefix:name"
    for item in _listed(value):
        if not isinstance(item, str | bool | int | float):
            yield f"Condition.{operator}.{key}: found {item!r}"


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
