"""The table of releases in ``docs/llmkube.md``: ``python -m tests.families.llmkube.page`` writes it from the data."""

import itertools
from collections.abc import Iterator

from components.families.llmkube.family import RELEASES
from tests.families.llmkube.api.test_releases import rows
from tests.layers.modules import ROOT

PAGE = ROOT / "docs/llmkube.md"
START = "<!-- Written by `python -m tests.families.llmkube.page` from releases.yaml and releases.csv: edit those. -->"
END = "<!-- End of the written table. -->"


def table() -> str:
    """Return the table: what each release has that none before it has, without fields of new kinds and blocks."""
    lines = ["| release | date | chart | new |", "|---|---|---|---|"]
    first = RELEASES.names[0]
    for release in RELEASES.releases:
        new = "the contract" if release.name == first else ", ".join(_new(release.name))
        lines.append(f"| {release.name} | {release.date} | {release.operator} | {new} |")
    return "\n".join(lines)


def page() -> str:
    """Return the whole page as it should be."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
    return f"{before}{START}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


def _new(release: str) -> Iterator[str]:
    """Yield new kinds and fields in the order of the data."""
    order = RELEASES.names.index
    since: dict[tuple[str, str], int] = {}
    for row in rows():
        if row["path"].startswith("spec"):
            field, start = (row["kind"], row["path"]), order(row["since"] or RELEASES.names[0])
            since[field] = min(start, since.get(field, start))
    fields = [field for field, start in since.items() if start == order(release)]
    for kind, path in fields:
        parts = path.replace("[]", ".[]").replace("{}", ".{}").split(".")
        above = {".".join(parts[:length]).replace(".[]", "[]") for length in range(1, len(parts))}
        if not any((kind, each) in fields for each in above):
            yield _name(kind, path)
    for (kind, path), found in itertools.groupby(rows(), lambda row: (row["kind"], row["path"])):
        changed = [row for row in found if row["since"] == release and since.get((kind, path), 0) < order(release)]
        if changed and path.startswith("spec"):
            yield f"{_name(kind, path)} (changed)"


def _name(kind: str, path: str) -> str:
    return f"`{kind}`" if path == "spec" else f"`{kind}.{path.removeprefix('spec.')}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
