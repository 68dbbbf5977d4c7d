"""Generate values that satisfy a JSON schema, or texts that match a pattern, for structured output.

The generator follows the usual keywords. A validator checks each value before it is returned, so that a keyword that
is not followed leads to an error, never to an invalid value. Schemas come from clients and must neither open
connections nor block other requests: references are followed only within the schema, and patterns are validated by an
engine without backtracking.
"""

import functools
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_MOST_TEXT = 100_000
"""Maximum characters of a schema."""
_MOST_VALUES = 2000
"""Maximum values generated for one attempt, including those that are discarded."""
_MOST_ITEMS = 256
_MOST_CHARACTERS = 4096
_DEEPEST = 24
_OPTIONAL = 4
"""Levels down to which optional properties are generated."""
_ATTEMPTS = 6
_WORDS = ("simulated", "value", "river", "garden", "stone", "window", "paper", "silver")
_TEXT_KEYS = ("minLength", "maxLength", "pattern", "format")
_NUMBER_KEYS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_ARRAY_KEYS = ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains")
_OBJECT_KEYS = (
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
)
_FORMATS: Mapping[str, str] = {
    "date": "2024-05-17",
    "time": "12:30:00Z",
    "date-time": "2024-05-17T12:30:00Z",
    "duration": "PT1H",
    "email": "someone@example.com",
    "idn-email": "someone@example.com",
    "hostname": "host.example.com",
    "idn-hostname": "host.example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/a",
    "iri": "https://example.com/a",
    "uri-reference": "/a",
    "iri-reference": "/a",
    "uri-template": "https://example.com/{a}",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": "a+",
}
"""A text for each format of JSON Schema, draft 2020-12 (validation vocabulary, section 7.3)."""


class SchemaError(Exception):
    """No value for a schema or a pattern was generated; the message says why."""


def example_of(schema: object, seed: int) -> Any:  # noqa: ANN401  any JSON
    """Return a value that satisfies a JSON schema, always the same for a seed.

    Raises:
        SchemaError: the schema is invalid, cannot be satisfied, or uses unsupported keywords.
    """
    is_valid = _checker(schema)
    why = "no value satisfies it"
    for attempt in range(_ATTEMPTS):
        try:
            value = _ExampleMaker(schema, random.Random(seed + attempt), attempt).value(schema, 0)  # noqa: S311  no secret
        except SchemaError as error:
            why = str(error)
            continue
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            # Bounds such as 1e999, and references to parts that the validator does not read as schemas.
            why = "a value of one of its keywords cannot be followed"
            continue
        if is_valid(value):
            return value
        why = "the value that is made for it does not satisfy it; it uses keywords that are not followed"
    raise SchemaError(why)


def matching(pattern: str, seed: int) -> str:
    """Return a text that a pattern matches as a whole.

    Raises:
        SchemaError: the pattern is invalid, no match was generated, or it uses unsupported syntax.
    """
    return str(example_of({"type": "string", "pattern": f"^(?:{pattern})$"}, seed))


def _checker(schema: object) -> Callable[[Any], bool]:
    """Return a predicate for values that satisfy a schema."""
    if not isinstance(schema, dict | bool):
        raise SchemaError("a schema is an object or a boolean")
    text = json.dumps(schema)
    if len(text) > _MOST_TEXT:
        raise SchemaError(f"it has more than {_MOST_TEXT} characters")
    return _compiled(text)


@functools.lru_cache(maxsize=64)
def _compiled(text: str) -> Callable[[Any], bool]:
    # Cached, since a request may ask for several answers with the same schema.
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(
            json.loads(text),
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(size_limit=2**20, dfa_size_limit=2**20),
            offline=True,
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        # The first line names the problem; the rest may quote the whole schema.
        raise SchemaError(str(error).splitlines()[0][:200]) from None
    return validator.is_valid


class _ExampleMaker:
    """Generates a value for a schema.

    Args:
        root: The schema that references start from.
        chance: Random choices where a schema allows several values.
        attempt: Number of attempts before this one; each starts with another one of several alternatives.
    """

    def __init__(self, root: object, chance: random.Random, attempt: int) -> None:
        self._root, self._chance, self._attempt = root, chance, attempt
        self._count = 0

    def value(self, schema: object, depth: int) -> Any:  # noqa: ANN401  any JSON
        """Return a value for a schema, which is ``root`` or a part of it.

        Raises:
            SchemaError: no value was generated.
        """
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST_VALUES:
            raise SchemaError("it is nested too deeply, or too large")
        if schema is True:
            return self._word()
        if not isinstance(schema, dict):
            raise SchemaError("nothing satisfies the schema false")
        schema = self._flat(schema, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            values = self._alternatives(schema["enum"])
            if not values:
                raise SchemaError("its enum is empty")
            return values[self._chance.randrange(len(values))]
        for several in ("anyOf", "oneOf"):
            if several in schema:
                rest = {key: value for key, value in schema.items() if key != several}
                return self._first(
                    [_merged(rest, self._flat_or_bool(part, depth)) for part in self._alternatives(schema[several])],
                    depth,
                )
        if "if" in schema:
            rest = {key: value for key, value in schema.items() if key not in ("if", "then", "else")}
            consequence = _merged(_merged(rest, schema["if"]), schema.get("then", True))
            return self._first([consequence, _merged(rest, schema.get("else", True))], depth)
        kinds = _kinds(schema)
        return self._first_of([functools.partial(self._of_kind, kind, schema, depth) for kind in kinds])

    def _of_kind(self, kind: str, schema: Mapping[str, Any], depth: int) -> Any:  # noqa: ANN401  any JSON
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return self._text(schema)
            case "integer" | "number":
                return self._number(schema, whole=kind == "integer")
            case "boolean":
                return self._chance.random() < 0.5
            case "null":
                return None
        raise SchemaError(f"there is no type {kind!r}")

    def _flat_or_bool(self, schema: object, depth: int) -> object:
        return self._flat(schema, depth) if isinstance(schema, dict) else schema

    def _flat(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """Return a schema without ``$ref`` and ``allOf`` at its top level."""
        flat, steps = dict(schema), depth
        while "$ref" in flat or "allOf" in flat:
            steps += 1
            if steps > _DEEPEST:
                raise SchemaError("its references lead to each other")
            if "$ref" in flat:
                reference = flat.pop("$ref")
                merged = _merged(flat, self._referred(reference))
            else:
                merged = flat
                for part in self._alternatives(flat.pop("allOf")):
                    merged = _merged(merged, self._flat_or_bool(part, steps))
            if not isinstance(merged, dict):
                raise SchemaError("nothing satisfies the schema false")
            flat = merged
        return flat

    def _referred(self, reference: object) -> object:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise SchemaError(f"a reference leads elsewhere than into the schema: {str(reference)[:80]!r}")
        target: Any = self._root
        for part in reference.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")  # JSON Pointer, RFC 6901, section 4
            if isinstance(target, list) and name.isdecimal() and int(name) < len(target):
                target = target[int(name)]
            elif isinstance(target, dict) and name in target:
                target = target[name]
            else:
                raise SchemaError(f"the reference {reference[:80]!r} leads nowhere")
        return target

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = [*schema.get("required", [])]
        dependent = schema.get("dependentRequired", {})
        names = [*dict.fromkeys([*(name for name in properties if name in required), *required])]
        if depth < _OPTIONAL:
            names += [name for name in properties if name not in names]
        maximum = schema.get("maxProperties", math.inf)
        members: dict[str, Any] = {}
        for name in names:
            if name not in required and len(members) >= maximum:
                continue
            try:
                members[name] = self.value(self._schema_of(schema, name), depth + 1)
            except SchemaError:
                if name in required:
                    raise
        for name in [needed for present in members for needed in dependent.get(present, ())]:
            members.setdefault(name, self.value(self._schema_of(schema, name), depth + 1))
        number = 0
        while len(members) < schema.get("minProperties", 0) and number < _MOST_ITEMS:
            number += 1
            name = self._name(schema, number)
            if name not in members:
                members[name] = self.value(self._schema_of(schema, name), depth + 1)
        # In the order of the schema, as engines with a grammar generate them.
        return {name: members[name] for name in [*properties, *members] if name in members}

    def _name(self, schema: Mapping[str, Any], number: int) -> str:
        if "propertyNames" in schema:
            return str(self.value(_merged({"type": "string"}, schema["propertyNames"]), 1))
        patterns = schema.get("patternProperties", {})
        if patterns and schema.get("additionalProperties", True) is False:
            pattern = next(iter(patterns))
            match = self._matching(pattern)
            return f"{match}{number}" if _finds(pattern, f"{match}{number}") else match
        return f"key{number}"

    def _schema_of(self, schema: Mapping[str, Any], name: str) -> object:
        """Return the schema of a property."""
        own: object = True
        is_known = False
        if name in schema.get("properties", {}):
            own, is_known = schema["properties"][name], True
        for pattern, pattern_schema in schema.get("patternProperties", {}).items():
            if _finds(pattern, name):
                own, is_known = (_merged(own, pattern_schema) if is_known else pattern_schema), True
        return own if is_known else schema.get("additionalProperties", True)

    def _array(self, schema: Mapping[str, Any], depth: int) -> list[Any]:
        first, rest = schema.get("prefixItems", []), schema.get("items", True)
        if isinstance(rest, list):  # drafts before 2020-12
            first, rest = rest, schema.get("additionalItems", True)
        minimum, maximum = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        contained = schema.get("minContains", 1) if "contains" in schema else 0
        # Two items where the schema leaves the number open, but none deep inside: nested lists would multiply.
        size = max(minimum, len(first), 0 if rest is False else 2 if depth < _OPTIONAL else 0)
        size = min(max(size, contained), maximum)
        if size > _MOST_ITEMS:
            raise SchemaError(f"a list of {size} items is longer than {_MOST_ITEMS}")
        items: list[Any] = []
        for index in range(int(size)):
            item = first[index] if index < len(first) else rest
            if index >= len(first) and len(items) - len(first) < contained:
                item = _merged(item, schema["contains"])
            try:
                if schema.get("uniqueItems"):
                    items.append(self._other(item, items, depth))
                else:
                    items.append(self.value(item, depth + 1))
            except SchemaError:
                if index < minimum:
                    raise
                break
        return items

    def _other(self, schema: object, before: Sequence[Any], depth: int) -> Any:  # noqa: ANN401  any JSON
        """Return a value that differs from those before it."""
        texts = [json.dumps(value, sort_keys=True) for value in before]
        for _ in range(40):
            value = self.value(schema, depth + 1)
            if json.dumps(value, sort_keys=True) not in texts:
                return value
        raise SchemaError("its items must differ, and too few are found")

    def _text(self, schema: Mapping[str, Any]) -> str:
        minimum, maximum = int(schema.get("minLength", 0)), schema.get("maxLength", math.inf)
        if minimum > _MOST_CHARACTERS:
            raise SchemaError(f"a text of {minimum} characters is longer than {_MOST_CHARACTERS}")
        if "pattern" in schema:
            for _ in range(60):
                match = self._matching(schema["pattern"], minimum)
                if minimum <= len(match) <= maximum:
                    return match
            raise SchemaError("no text of the lengths matches its pattern")
        if schema.get("format") == "uuid":
            digits = f"{self._chance.getrandbits(128):032x}"
            # Version 4 and variant 10 (RFC 9562, section 5.4).
            return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        words = [self._word()]
        while len(" ".join(words)) < minimum:
            words.append(self._word())
        return " ".join(words)[: int(min(maximum, _MOST_CHARACTERS))]

    def _word(self) -> str:
        return f"{self._chance.choice(_WORDS)} {self._chance.randrange(100)}"

    def _number(self, schema: Mapping[str, Any], *, whole: bool) -> int | float:
        step = Fraction(str(schema.get("multipleOf", 1 if whole else "0.5")))
        if whole and step.denominator != 1:
            step = Fraction(step.numerator)
        if step <= 0:
            raise SchemaError("multipleOf is not positive")
        low, high = (
            _end(schema, "minimum", "exclusiveMinimum", step, 1),
            _end(schema, "maximum", "exclusiveMaximum", step, -1),
        )
        if "multipleOf" not in schema and not whole and low is not None and high is not None and low > high:
            return self._between(schema)
        if low is None and high is None:
            low = 0
        first = low if low is not None else (high or 0) - 40
        last = min(high, first + 40) if high is not None else first + 40
        if first > last:
            raise SchemaError("no number is within its bounds")
        number = step * self._chance.randint(first, last)
        return int(number) if number.denominator == 1 else float(number)

    def _between(self, schema: Mapping[str, Any]) -> float:
        """Return a number between two bounds that have no multiple of the step between them."""
        low = max(float(schema[key]) for key in ("minimum", "exclusiveMinimum") if key in schema)
        high = min(float(schema[key]) for key in ("maximum", "exclusiveMaximum") if key in schema)
        if low > high:
            raise SchemaError("no number is within its bounds")
        return low if low == high else (low + high) / 2

    def _matching(self, pattern: object, least: int = 0) -> str:
        """Return a text that should match a pattern; anchors are ignored, and the validator checks the result."""
        if not isinstance(pattern, str):
            raise SchemaError("a pattern is a string")
        try:
            parsed = _parser.parse(pattern.replace("\\/", "/"))
        except (re.error, RecursionError, OverflowError) as error:
            raise SchemaError(f"the pattern {pattern[:80]!r} is not followed: {error}") from None
        return _PatternText(self._chance, least).text(parsed)

    def _first(self, schemas: Sequence[object], depth: int) -> Any:  # noqa: ANN401  any JSON
        return self._first_of([functools.partial(self.value, schema, depth + 1) for schema in schemas])

    def _first_of(self, makers: Sequence[Callable[[], Any]]) -> Any:  # noqa: ANN401  any JSON
        """Return the value of the first maker that succeeds; each attempt starts with another one."""
        if not makers:
            raise SchemaError("it has no alternative")
        start, error = self._attempt % len(makers), SchemaError("it has no alternative")
        for make in (*makers[start:], *makers[:start]):
            try:
                return make()
            except SchemaError as caught:
                error = caught
        raise error

    @staticmethod
    def _alternatives(value: object) -> list[Any]:
        if not isinstance(value, list):
            raise SchemaError("a list of alternatives is none")
        return value


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a value may have, ``null`` last; without ``type``, the one that the keywords imply."""
    kind = schema.get("type")
    if isinstance(kind, list):
        return sorted(map(str, kind), key=lambda name: name == "null")
    if isinstance(kind, str):
        return [kind]
    for name, keys in (
        ("object", _OBJECT_KEYS),
        ("array", _ARRAY_KEYS),
        ("string", _TEXT_KEYS),
        ("number", _NUMBER_KEYS),
    ):
        if any(key in schema for key in keys):
            return [name]
    return ["string"]


def _end(schema: Mapping[str, Any], plain: str, exclusive: str, step: Fraction, sign: int) -> int | None:
    """Return the number of steps from 0 to the first multiple within a bound; None without a bound."""
    ends: list[int] = []
    for key in (plain, exclusive):
        bound = schema.get(key)
        if bound is None:
            continue
        if isinstance(bound, bool):  # draft 4
            if key == exclusive and bound and plain in schema:
                steps = _exact(schema[plain]) / step
                ends.append(math.floor(steps) + 1 if sign > 0 else math.ceil(steps) - 1)
            continue
        steps = _exact(bound) / step
        if key == exclusive:
            ends.append(math.floor(steps) + 1 if sign > 0 else math.ceil(steps) - 1)
        else:
            ends.append(math.ceil(steps) if sign > 0 else math.floor(steps))
    if not ends:
        return None
    return max(ends) if sign > 0 else min(ends)


def _exact(bound: float) -> Fraction:
    """Return the decimal value of a bound; from 2**53, where floats are further apart than 1, its binary value."""
    return Fraction(str(bound)) if abs(bound) < 2**53 else Fraction(bound)


def _finds(pattern: str, name: str) -> bool:
    import jsonschema_rs

    schema = {"pattern": pattern}
    return bool(jsonschema_rs.validator_for(schema, pattern_options=jsonschema_rs.RegexOptions()).is_valid(name))


def _merged(one: object, other: object) -> Any:  # noqa: ANN401  a schema
    """Return the conjunction of two schemas, as far as their keywords can be combined."""
    if one is False or other is False:
        return False
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one if isinstance(one, dict) else other
    merged = dict(one)
    for key, value in other.items():
        merged[key] = _joined(key, merged[key], value) if key in merged else value
    return merged


def _joined(key: str, one: Any, other: Any) -> Any:  # noqa: ANN401  any JSON
    match key:
        case "properties" | "patternProperties" | "$defs" | "definitions" | "dependentRequired":
            shared = {name: _merged(one[name], other[name]) if name in one else other[name] for name in other}
            return {**one, **shared}
        case "required":
            return [*dict.fromkeys([*one, *other])]
        case "items" | "additionalProperties" | "contains" | "propertyNames":
            return _merged(one, other)
        case "allOf":
            return [*one, *other]
        case "minimum" | "minLength" | "minItems" | "minProperties" | "minContains":
            return max(one, other)
        case "maximum" | "maxLength" | "maxItems" | "maxProperties":
            return min(one, other)
        case "enum":
            return [value for value in one if value in other]
        case "type":
            ones, others = ([kinds] if isinstance(kinds, str) else kinds for kinds in (one, other))
            both = [kind for kind in ones if kind in others or (kind == "integer" and "number" in others)]
            return both + [kind for kind in others if kind == "integer" and "number" in ones and kind not in both]
    return other


class _PatternText:
    """Generates a text that a parsed pattern matches.

    Args:
        chance: Random choices where the pattern allows several texts.
        least: Minimum characters that unbounded repetitions try to reach.
    """

    _PRINTABLE = tuple(map(chr, range(32, 127)))
    _CLASSES: Mapping[str, Callable[[str], bool]] = {
        "CATEGORY_DIGIT": str.isdecimal,
        "CATEGORY_SPACE": str.isspace,
        "CATEGORY_WORD": lambda char: char.isalnum() or char == "_",
    }

    def __init__(self, chance: random.Random, least: int) -> None:
        self._chance, self._least = chance, least
        self._groups: dict[int, str] = {}
        self._length = 0

    def text(self, parsed: Any) -> str:  # noqa: ANN401  what Python's parser of patterns returns
        return "".join(self._pieces(parsed))

    def _pieces(self, parsed: Any) -> Iterator[str]:  # noqa: ANN401
        for code, argument in parsed:
            yield from self._piece(str(code), argument)

    def _piece(self, code: str, argument: Any) -> Iterator[str]:  # noqa: ANN401  a case for each kind of piece
        if self._length > _MOST_CHARACTERS:
            raise SchemaError("a text that matches its pattern is too long")
        match code:
            case "LITERAL":
                yield self._counted(chr(argument))
            case "NOT_LITERAL":
                yield self._counted(self._any(lambda char: char != chr(argument)))
            case "ANY":
                yield self._counted(self._any(str.isalnum))
            case "IN":
                yield self._counted(self._from_set(argument))
            case "BRANCH":
                yield from self._pieces(argument[1][self._chance.randrange(len(argument[1]))])
            case "SUBPATTERN":
                group, _, _, inner = argument
                text = self.text(inner)
                if group is not None:
                    self._groups[group] = text
                yield text
            case "GROUPREF":
                yield self._counted(self._groups.get(argument, ""))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                yield from self._repeated(*argument)
            case "ATOMIC_GROUP":
                yield from self._pieces(argument)
            case "AT":
                pass
            case _:
                raise SchemaError("its pattern looks ahead or behind, which is not followed")

    def _repeated(self, least: int, most: int, inner: Any) -> Iterator[str]:  # noqa: ANN401
        if least > _MOST_CHARACTERS:
            raise SchemaError("a text that matches its pattern is too long")
        times = min(int(most), least + self._chance.randrange(6))
        number = 0
        while number < times or (number < int(most) and self._length < self._least and number < _MOST_CHARACTERS):
            before = self._length
            yield from self._pieces(inner)
            number += 1
            # An empty repetition never reaches the minimum length.
            if number >= times and self._length == before:
                return

    def _from_set(self, entries: Any) -> str:  # noqa: ANN401
        negated = bool(entries) and str(entries[0][0]) == "NEGATE"
        tests = [self._test(str(code), argument) for code, argument in entries if str(code) != "NEGATE"]
        if not negated:
            code, argument = entries[self._chance.randrange(len(entries))]
            if str(code) == "LITERAL":
                return chr(argument)
            if str(code) == "RANGE":
                return chr(self._chance.randint(*argument))
        return self._any(lambda char: any(test(char) for test in tests) is not negated)

    def _test(self, code: str, argument: Any) -> Callable[[str], bool]:  # noqa: ANN401
        match code:
            case "LITERAL":
                return lambda char: char == chr(argument)
            case "RANGE":
                return lambda char: argument[0] <= ord(char) <= argument[1]
            case "CATEGORY":
                name = str(argument)
                test = self._CLASSES.get(name.replace("NOT_", ""))
                if test is not None:
                    return test if "NOT_" not in name else lambda char: not test(char)
        raise SchemaError("its pattern has a class of characters that is not followed")

    def _any(self, test: Callable[[str], bool]) -> str:
        characters = [char for char in self._PRINTABLE if test(char)]
        if not characters:
            raise SchemaError("its pattern has a class without a printable character")
        # Letters and digits if possible: a text of punctuation alone is harder to read.
        return self._chance.choice([char for char in characters if char.isalnum()] or characters)

    def _counted(self, text: str) -> str:
        self._length += len(text)
        return text
