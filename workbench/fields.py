"""``workbench explain --field``: what is known of a field of a kind, without any manifest."""

import json
import re
import sys

from components.contract.field_reference import FieldReference, field_references
from components.contract.kinds import Kind
from components.contract.problems import did_you_mean
from components.contract.texts.printable import printable
from components.families import kinds
from components.plan.field_samples import FieldSample, field_samples
from toolkit.printing import Format

from .errors import WorkbenchError

_INDEX = re.compile(r"\[\d*\]")
_MAX_LINES = 6


def describe_field(name: str, output: Format) -> None:
    """Print a field's description, type, default, limits, releases, and what it becomes in a sample.

    Args:
        name: Kind and path, such as ``ModelBooster.spec.backends[].name``; indices may be left out.
        output: Text or JSON.

    Raises:
        WorkbenchError: there is no such kind or field; the message suggests the closest.
    """
    kind_name, _, path = name.partition(".")
    kind = next((kind for kind in kinds() if kind.kind == kind_name), None)
    if kind is None:
        known = sorted(kind.kind for kind in kinds())
        hint = did_you_mean(kind_name, known) or f"; known kinds: {', '.join(known)}"
        raise WorkbenchError(f"unknown kind {kind_name!r}{hint}", exit_code=2)
    references = {_plain(each.path): each for each in field_references(kind)}
    reference = references.get(_plain(path))
    if reference is None:
        hint = did_you_mean(_plain(path), list(references)) or f"; fields: {', '.join(_top(references))}"
        raise WorkbenchError(f"{kind_name} has no field {path or '(none given)'}{hint}", exit_code=2)
    samples = list(field_samples(kind, reference.path))
    if output is Format.JSON:
        sys.stdout.write(json.dumps(_as_dict(kind, reference, samples), indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(kind, reference, samples)) + "\n")


def _plain(path: str) -> str:
    """Return a path without indices, so that users need not write them."""
    return _INDEX.sub("", path)


def _top(references: dict[str, FieldReference]) -> list[str]:
    return [path for path in references if path.count(".") == 1]


def _as_dict(kind: Kind, reference: FieldReference, samples: list[FieldSample]) -> dict[str, object]:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "field": reference.path,
        "type": reference.type,
        "required": reference.required,
        "default": reference.default,
        "limits": list(reference.limits),
        "releases": reference.releases or "all",
        "changes": list(reference.changes),
        "description": reference.description,
        "becomes": [
            {"field": row.path, "value": row.value, "became": list(row.became)}
            for sample in samples
            for row in sample.rows
        ],
    }


def _lines(kind: Kind, reference: FieldReference, samples: list[FieldSample]) -> list[str]:
    lines = [f"{kind.kind}.{reference.path} ({kind.api_version})", f"  {reference.description}", ""]
    facts = [("type", reference.type), ("required", "yes" if reference.required else "no")]
    if reference.default is not None:
        facts.append(("default", json.dumps(reference.default)))
    if reference.limits:
        facts.append(("limits", "; ".join(reference.limits).replace("`", "")))
    facts.append(("releases", reference.releases or "all"))
    facts += [("in", change.replace("`", "")) for change in reference.changes]
    lines += [f"  {label:<9} {value}" for label, value in facts]
    rows = [row for sample in samples for row in sample.rows]
    became = [
        f"  {printable(row.path)}: {printable(str(row.value))} becomes\n    {printable(text)}"
        for row in rows
        for text in row.became[:1] or ("nothing: it has no effect here",)
    ]
    if became:
        more = [f"  and {len(became) - _MAX_LINES} more (--output json)"] if len(became) > _MAX_LINES else []
        lines += ["", "for example,", *became[:_MAX_LINES], *more]
    return lines
