"""Generates the table of releases in docs/llmd.md from the types and from what can be installed.

``python -m tests.families.llmd.releases.page`` writes it.
"""

from collections.abc import Iterator

from components.contract.schema.narrowing import release_graph
from components.families.llmd.controller.installation import uninstallable
from components.families.llmd.kinds import RELEASES, VARIANT_AUTOSCALING
from tests.documentation.blocks import ROOT

PAGE = ROOT / "docs/llmd.md"
HEAD = "| release | date | new in the spec | gone from the spec | `operator` |"
_REASONS = {"compiled in": "namespace compiled in", "InferencePool": "needs the kind InferencePool"}


def table() -> list[str]:
    """Return the lines of the table."""
    lines, known = [HEAD, "|---|---|---|---|---|"], set[str]()
    for release in RELEASES.releases:
        fields = set(_fields(release.name)) if VARIANT_AUTOSCALING.at(release.name).exists else set()
        added, gone = (_listed(one - other) for one, other in ((fields, known), (known, fields)))
        if not known:
            added = "the form of the contract"
        if not fields:
            gone = "the kind: annotations of HorizontalPodAutoscalers and ScaledObjects replace it"
        lines.append(f"| `{release.name}` | {release.date} | {added} | {gone} | {_installed(release.name)} |")
        known = fields
    return lines


def _fields(release: str) -> Iterator[str]:
    graph = release_graph(VARIANT_AUTOSCALING, release)

    def walk(schema: object, path: str) -> Iterator[str]:
        found = graph.resolve(schema) if isinstance(schema, dict) else {}
        for name, inner in found.get("properties", {}).items():
            yield f"{path}{name}"
            yield from walk(inner, f"{path}{name}.")
        if "items" in found:
            yield from walk(found["items"], path)

    yield from walk(graph.resolve(graph.root)["properties"]["spec"], "")


def _listed(fields: set[str]) -> str:
    """Return fields without those below another one, by their last names."""
    tops = sorted(field for field in fields if not any(field.startswith(f"{other}.") for other in fields))
    return ", ".join(f"`{field.rpartition('.')[2]}`" for field in tops)


def _installed(release: str) -> str:
    reason = uninstallable(release)
    if not reason:
        return "installed"
    why = next((text for word, text in _REASONS.items() if word in reason), "has no VariantAutoscaling")
    return f"not installed: {why}"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8").splitlines()
    start = text.index(HEAD)
    end = next(index for index in range(start, len(text)) if not text[index].startswith("|"))
    PAGE.write_text("\n".join([*text[:start], *table(), *text[end:]]) + "\n", encoding="utf-8")
