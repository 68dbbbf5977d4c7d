"""Generates the table of releases in docs/kthena.md from the types.

``python -m tests.families.kthena.page`` writes it.
"""

from collections.abc import Iterator

from components.contract.kinds import Kind
from components.contract.schema.narrowing import release_graph
from components.families import kinds
from components.families.kthena.kinds import RELEASES
from tests.documentation.blocks import ROOT

PAGE = ROOT / "docs/kthena.md"
HEAD = "| release | date | chart | new in the specs | gone from the specs |"
NAMES = ("ModelBooster", "ModelServing", "AutoscalingPolicy", "AutoscalingPolicyBinding", "ModelServer", "ModelRoute")


def table() -> list[str]:
    """Return the lines of the table."""
    lines, known = [HEAD, "|---|---|---|---|---|"], dict[str, set[str]]()
    for release in RELEASES.releases:
        own = {name: set(fields_of(kinds().by_name(name), release.name)) for name in NAMES}
        added, gone = _changes(own, known), _changes(known, own)
        if not known:
            added = "the form of the contract"
        lines.append(f"| `{release.name}` | {release.date} | `{release.operator}` | {added} | {gone} |")
        known = own
    return lines


def _changes(one: dict[str, set[str]], other: dict[str, set[str]]) -> str:
    """Return what one release has and another has not, by kind."""
    found = []
    for name, fields in one.items():
        if fields and other and not other[name]:
            found.append(f"the kind {name}")
            continue
        missing = fields - other.get(name, set())
        tops = sorted(field for field in missing if field.rpartition(".")[0] not in missing)
        if tops:
            found.append(f"{name}: {', '.join(f'`{field}`' for field in tops)}")
    return "; ".join(found)


def fields_of(kind: Kind, release: str) -> Iterator[str]:
    if not kind.at(release).exists:
        return
    graph = release_graph(kind, release)

    def walk(schema: object, path: str) -> Iterator[str]:
        if isinstance(schema, dict) and "io.k8s." in schema.get("$ref", ""):
            return  # types of Kubernetes; docs/releases.md says of which version
        found = graph.resolve(schema) if isinstance(schema, dict) else {}
        for name, inner in found.get("properties", {}).items():
            yield f"{path}{name}"
            yield from walk(inner, f"{path}{name}.")
        for key in ("items", "additionalProperties"):
            if isinstance(found.get(key), dict):
                yield from walk(found[key], path)
        for inner in found.get("anyOf", ()):
            yield from walk(inner, path)

    yield from walk(graph.resolve(graph.root)["properties"]["spec"], "")


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8").splitlines()
    start = text.index(HEAD)
    end = next(index for index in range(start, len(text)) if not text[index].startswith("|"))
    PAGE.write_text("\n".join([*text[:start], *table(), *text[end:]]) + "\n", encoding="utf-8")
