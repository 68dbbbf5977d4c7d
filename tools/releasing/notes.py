"""The notes of a release: its section of the changelog."""

import json
import re

from .sources import ReleaseError, ReleaseSource

_SCHEMA = "components/schema.json"


def notes(source: ReleaseSource, tag: str | None = None) -> str:
    """Return the section of the version in CHANGELOG.md, or without a tag also that of unreleased changes.

    Raises:
        ReleaseError: There is no such section, or the tag, the version and the schema disagree.
    """
    if tag is not None:
        _check_versions(source, tag)
    sections = dict(
        re.findall(r"^## (\S+).*?\n(.*?)(?=^## |\Z)", source.read("CHANGELOG.md"), re.MULTILINE | re.DOTALL)
    )
    wanted = [source.version] if tag is not None else [source.version, "Unreleased"]
    for name in wanted:
        if sections.get(name, "").strip():
            return str(sections[name].strip()) + "\n"
    raise ReleaseError(f"CHANGELOG.md has no section '## {' or '.join(wanted)}'")


def _check_versions(source: ReleaseSource, tag: str) -> None:
    if tag != f"v{source.version}":
        raise ReleaseError(
            f"the tag is {tag}, but pyproject.toml has version {source.version}; tag v{source.version}"
        )
    generated = json.loads(source.read(_SCHEMA))["version"]
    if generated != source.version:
        raise ReleaseError(f"{_SCHEMA} has version {generated}, not {source.version}; run make env schema-golden")
