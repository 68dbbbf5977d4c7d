"""Structured output: JSON for a schema, one of several choices, or text that matches a regular expression.

Each engine has its own fields for it. Constraints that cannot be generated are rejected.
"""

import json
from collections.abc import Sequence
from typing import Any

from components.engines.versions import Version

from . import bodies
from .bodies import ApiError, Body
from .planning import Form
from .schemas import SchemaError, example_of, matching

_ANY_OBJECT = {"type": "object", "properties": {"simulated": {"const": True}, "answer": {"type": "string"}}}
"""Schema of the answer if any JSON object is valid."""


def json_form(schema: object, field: str) -> Form:
    """Return the form of JSON for a schema, which may be given as a JSON string."""
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            raise ApiError(400, f"{field}: the schema is not JSON: {error}", field) from None

    def text(seed: int) -> str:
        try:
            return json.dumps(example_of(schema, seed), ensure_ascii=False)
        except SchemaError as error:
            raise ApiError(400, f"{field}: no JSON is generated for the schema: {error}", field) from None

    return text


def any_object_form(field: str) -> Form:
    """Return the form of an arbitrary JSON object."""
    return json_form(_ANY_OBJECT, field)


def pattern_form(pattern: object, field: str) -> Form:
    """Return the form of text that matches a regular expression completely."""
    if not isinstance(pattern, str):
        raise ApiError(400, f"{field}: must be a string with a regular expression", field, "body")

    def text(seed: int) -> str:
        try:
            return matching(pattern, seed)
        except SchemaError as error:
            raise ApiError(400, f"{field}: no text is generated for the pattern: {error}", field) from None

    return text


def choice_form(choices: object, field: str) -> Form:
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, str) for choice in choices):
        raise ApiError(400, f"{field}: must be an array of strings, at least one", field)
    options: list[str] = choices
    return lambda seed: options[seed % len(options)]


def unknown_form(field: str, what: str) -> ApiError:
    """Return the error for a constraint that the simulation does not support."""
    return ApiError(400, f"{field}: simulated engines generate no answers from {what}", field)


def response_format(body: Body, field: str = "response_format") -> Form | None:
    """Return the form in OpenAI's ``response_format``; None for free text.

    llama.cpp also accepts ``schema`` with the type ``json_object``, and Text Generation Inference ``value`` with
    types of its own.
    """
    spec = bodies.json_object(body, field)
    if not spec:
        return None
    kind = spec.get("type")
    match kind:
        case None | "text":
            if "value" not in spec:
                return None
        case "json_object" | "json":
            schema = next((spec[name] for name in ("schema", "value") if spec.get(name) is not None), None)
            return any_object_form(field) if schema is None else json_form(schema, field)
        case "json_schema":
            nested = spec.get("json_schema", spec.get("value"))
            if not isinstance(nested, dict):
                message = "When response_format type is 'json_schema', the 'json_schema' field must be provided."
                raise ApiError(400, message, field)
            return json_form(nested.get("schema", True if "name" in nested else nested), field)
        case "regex" if "value" in spec:
            return pattern_form(spec["value"], field)
        case "structural_tag":
            raise unknown_form(field, "structural tags")
    raise ApiError(400, f"{field}: there is no type {str(kind)[:80]!r}", field)


def only_form(forms: Sequence[Form | None], field: str) -> Form | None:
    """Return the only form of a request; None for free text.

    Raises:
        ApiError: there are several.
    """
    given = [form for form in forms if form is not None]
    if len(given) > 1:
        raise ApiError(400, "You can only use one kind of guided decoding, found several", field)
    return next(iter(given), None)


_WITHOUT_GUIDED, _WITH_STRUCTURED = (0, 12), (0, 11)
_GUIDED = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")


def guided_form(body: Body, version: Version | None) -> Form | None:
    """Return the form in vLLM's own fields: ``guided_*`` before 0.12, and ``structured_outputs`` since 0.11.

    A version ignores the fields that it does not know, and answers with free text (pull requests 22772 and 29326,
    issue 53975).

    Args:
        body: The request.
        version: Version of vLLM; None for the newest.
    """
    fields: list[tuple[str, Any, str]] = []
    if version and version < _WITHOUT_GUIDED:
        fields += [(f"guided_{name}", body.get(f"guided_{name}"), name) for name in _GUIDED]
    if not version or version >= _WITH_STRUCTURED:
        nested = bodies.json_object(body, "structured_outputs")
        fields += [(f"structured_outputs.{name}", nested.get(name), name) for name in _GUIDED]
    forms = []
    for field, value, name in fields:
        if value is None or value is False:
            continue
        match name:
            case "json":
                forms.append(json_form(value, field))
            case "regex":
                forms.append(pattern_form(value, field))
            case "choice":
                forms.append(choice_form(value, field))
            case "json_object":
                forms.append(any_object_form(field))
            case _:
                raise unknown_form(field, "grammars" if name == "grammar" else "structural tags")
    return only_form(forms, "structured_outputs")
