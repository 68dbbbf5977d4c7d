"""Holds the statements of policies against AWS's Service Authorization Reference.

IAM takes a misspelt action, a resource that the action does not know and a condition key that is never there without
a word; the statement then grants nothing. What the reference says is in ``authorization.json``.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.clouds.aws.models.extract_authorization import EXTRACT

WILDCARDS = {("Deny", "sqs:*"): "Karpenter's queue: nothing at all without TLS"}
"""Actions with wildcards that a policy may have, with the effect and the reason."""

_BEYOND = {
    # Karpenter's own policy has it (aws/karpenter-provider-aws 1d927085, website, reference/cloudformation.md).
    "ec2:RunInstances": {
        "spot-instances-request": "arn:${Partition}:ec2:${Region}:${Account}:spot-instances-request/*"
    },
}
"""What actions are on without a word in the reference."""
_GLOBAL = {
    *("aws:PrincipalArn", "aws:SecureTransport", "aws:SourceAccount", "aws:SourceArn", "aws:SourceOrgID"),
    *("aws:CalledVia", "aws:ViaAWSService", "aws:PrincipalOrgID", "aws:RequestedRegion", "aws:SourceVpce"),
}
"""Keys of every request (IAM User Guide, global condition context keys); those of tags are not among them."""
_VARIABLE = re.compile(r"\$\{([A-Za-z]+)\}")
_ANY, _FLAT = "any", "flat"
"""What a variable in the reference may be: any text, or one without a slash."""
_FLAT_VARIABLES = {"BucketName"}


@dataclass(frozen=True)
class ResourceType:
    """A type of resource that an action is on.

    Attributes:
        required: Whether the action cannot be without one.
    """

    arn: str
    required: bool
    keys: frozenset[str]


@dataclass(frozen=True)
class Action:
    """An action; ``keys`` are the conditions that it knows whatever it is on."""

    keys: frozenset[str]
    types: Mapping[str, ResourceType]


@functools.cache
def known_actions() -> Mapping[str, Action]:
    rows = json.loads(EXTRACT.read_text(encoding="utf-8"))["actions"]
    return {name: _action(name, row) for name, row in rows.items()}


def _action(name: str, row: Mapping[str, Any]) -> Action:
    keys = frozenset(row["keys"])
    types = {
        kind: ResourceType(one["arn"], one["required"], frozenset(one["keys"])) for kind, one in row["types"].items()
    }
    beyond = {kind: ResourceType(arn, required=False, keys=keys) for kind, arn in _BEYOND.get(name, {}).items()}
    return Action(keys, types | beyond)


def action_problem(effect: str, action: Any) -> str | None:
    """Return what is wrong with an action such as ``ec2:DescribeVpcs``."""
    if not isinstance(action, str):
        return f"found {action!r}"
    if "*" in action or "?" in action:
        return (
            None if (effect, action) in WILDCARDS else f"found {action!r}; name the actions, or add it to WILDCARDS"
        )
    if action not in known_actions():
        return f"found {action!r}, which is not in authorization.json; see extract_authorization.py"
    return None


def text_problems(value: Any) -> Iterator[str]:
    """Return what is wrong with the policies among the texts of some inputs, wherever they are."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for inner in value:
            yield from text_problems(inner)
    elif isinstance(value, str) and value.startswith("{") and '"Statement"' in value:
        yield from (f"policy: {problem}" for problem in document_problems(_read(value)))


def _read(text: str) -> Mapping[str, Any]:
    """Return a document; what is none is for ``policies`` to report."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def document_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """Return actions that are none or too many, and what :func:`statement_problems` has."""
    statements = [one for one in _listed(document.get("Statement", [])) if isinstance(one, dict)]
    for index, statement in enumerate(statements):
        actions = _listed(statement.get("Action", statement.get("NotAction", [])))
        found = (action_problem(statement.get("Effect", ""), action) for action in actions)
        yield from (f"Statement[{index}].Action: {problem}" for problem in found if problem)
    yield from statement_problems(statements)


def statement_problems(statements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Return what grants nothing: on resources that an action does not know, or under keys that are not there."""
    statements = [one for one in statements if "Action" in one]
    reached: dict[str, set[str]] = {}
    for index, statement in enumerate(statements):
        for name in _listed(statement["Action"]):
            action = known_actions().get(name)
            if action and "Resource" in statement:
                there = _types_among(action, _listed(statement["Resource"]))
                reached.setdefault(name, set()).update(there)
                yield from (f"Statement[{index}].{one}" for one in _resources(name, action, statement, there))
            if action:
                yield from (f"Statement[{index}].{one}" for one in _conditions(name, action, statement))
        yield from (f"Statement[{index}].{one}" for one in _unused(statement))
    for name, types in reached.items():
        # A rule of a listener is one of an Application or of a Network Load Balancer: one of the two will do.
        needed = {kind.partition("/")[0] for kind, one in known_actions()[name].types.items() if one.required}
        lacking = sorted(needed - {kind.partition("/")[0] for kind in types})
        if lacking:
            yield f"{name}: is on no {' and no '.join(lacking)}, which it requires"


def _resources(name: str, action: Action, statement: Mapping[str, Any], there: set[str]) -> Iterator[str]:
    resources = _listed(statement["Resource"])
    if not action.types and "*" not in resources:
        yield f"Resource: {name} is on no single resource; write *"
    elif action.types and not there:
        yield f"Resource: found {', '.join(resources)}, but {name} is on {', '.join(sorted(action.types))}"


def _unused(statement: Mapping[str, Any]) -> Iterator[str]:
    """Report resources that no action of the statement is on."""
    actions = [known_actions().get(name) for name in _listed(statement["Action"])]
    if None in actions:
        return
    for resource in _listed(statement.get("Resource", [])):
        if resource != "*" and not any(action and _types_among(action, [resource]) for action in actions):
            yield f"Resource: found {resource}, which none of its actions is on"


def _types_among(action: Action, resources: list[str]) -> set[str]:
    return {name for name, kind in action.types.items() if any(names(resource, kind.arn) for resource in resources)}


def _conditions(name: str, action: Action, statement: Mapping[str, Any]) -> Iterator[str]:
    types = action.types
    if "Resource" in statement:
        there = _types_among(action, _listed(statement["Resource"]))
        types = {kind: one for kind, one in action.types.items() if kind in there}
    allowed = action.keys.union(*(one.keys for one in types.values()))
    for tests in (statement.get("Condition") or {}).values():
        for key in tests:
            if key not in _GLOBAL and not any(_is_key(key, known) for known in allowed):
                yield f"Condition: found the key {key}, which {name} does not know on these resources"


def _is_key(key: str, known: str) -> bool:
    """Whether a key is one of the reference, where ``${TagKey}`` stands for a tag; keys are not case-sensitive."""
    pattern = ".+".join(map(re.escape, _VARIABLE.split(known)[::2]))
    return re.fullmatch(pattern, key, re.IGNORECASE) is not None


def names(resource: str, reference: str) -> bool:
    """Whether a resource of a policy, with its wildcards, may be one of a type, with its variables.

    What is AWS's own has no account: ``arn:aws:ssm:us-east-1::parameter/aws/service/...``.
    """
    if resource == "*":
        return True
    given, expected = resource.split(":", 5), reference.split(":", 5)
    if len(given) != len(expected) or (expected[3] and not given[3]):
        return False
    return all(_meets(one, _tokens(other)) for one, other in zip(given, expected, strict=True))


@functools.cache
def _tokens(reference: str) -> tuple[str, ...]:
    parts = _VARIABLE.split(reference)
    tokens: list[str] = []
    for index, part in enumerate(parts):
        tokens += [_FLAT if part in _FLAT_VARIABLES else _ANY] if index % 2 else list(part.replace("*", "\0"))
    return tuple(_ANY if token == "\0" else token for token in tokens)


@functools.cache
def _meets(given: str, expected: tuple[str, ...]) -> bool:
    """Whether some text is named by both patterns."""
    if not given or not expected:
        return set(given) <= {"*"} and set(expected) <= {_ANY, _FLAT}
    if given[0] == "*":
        return _meets(given[1:], expected) or _meets(given, expected[1:])
    if expected[0] in (_ANY, _FLAT):
        taken = (expected[0] == _ANY or given[0] != "/") and _meets(given[1:], expected)
        return taken or _meets(given, expected[1:])
    return (given[0] == "?" or given[0] == expected[0]) and _meets(given[1:], expected[1:])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
