"""The software bill of materials: what the wheel needs, in the versions that were tested (CycloneDX 1.6)."""

import hashlib
import importlib.metadata
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageMetadata
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.bom_ref import BomRef
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .sources import ReleaseError, ReleaseSource

_EXTRAS = ("aws", "fit", "gateway", "kubernetes", "plot")
"""Extras of the wheel; ``all`` is all of them, and ``dev`` is for contributors."""
_LONGEST_LICENSE = 60
"""Characters of a license field; longer ones are whole texts."""


def write_sbom(source: ReleaseSource, out: Path) -> Path:
    """Write the bill of the locked packages that are installed beside this program."""
    bom = Bom()
    bom.metadata = BomMetaData(timestamp=datetime.fromtimestamp(source.epoch, UTC))
    root = _component(source.name, source.version, ComponentType.LIBRARY, None)
    bom.metadata.component = root
    required = {name for _, name in _closure(source.name, ())}
    edges = [*_closure(source.name, _EXTRAS)]
    parts: dict[str, Component] = {canonicalize_name(source.name): root}
    for _, name in edges:
        if name not in parts:
            scope = ComponentScope.REQUIRED if name in required else ComponentScope.OPTIONAL
            parts[name] = _component(name, importlib.metadata.version(name), ComponentType.LIBRARY, scope)
            bom.components.add(parts[name])
    for name, part in parts.items():
        bom.register_dependency(part, [parts[to] for of, to in edges if of == name])
    # The serial number identifies the content: the same content has the same number.
    bom.serial_number = uuid.UUID(int=0)
    digest = hashlib.sha256(JsonV1Dot6(bom).output_as_string().encode()).hexdigest()
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, digest)
    path = out / "sbom.cdx.json"
    path.write_text(JsonV1Dot6(bom).output_as_string(indent=2) + "\n", encoding="utf-8")
    return path


def _closure(name: str, extras: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield who needs what, by canonical names, on this platform.

    Raises:
        ReleaseError: A package is not installed.
    """
    pending = [(canonicalize_name(name), extras)]
    seen = set(pending)
    found: set[tuple[str, str]] = set()
    while pending:
        of, wanted = pending.pop()
        for requirement in _requirements(of, wanted):
            edge = (of, canonicalize_name(requirement.name))
            step = (edge[1], tuple(sorted(requirement.extras)))
            if edge not in found:
                found.add(edge)
                yield edge
            if step not in seen:
                seen.add(step)
                pending.append(step)


def _requirements(name: str, extras: tuple[str, ...]) -> Iterator[Requirement]:
    for text in _metadata(name).get_all("Requires-Dist") or []:
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _metadata(name: str) -> PackageMetadata:
    try:
        return importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        raise ReleaseError(f"{name} is not installed; run make env") from None


def _component(name: str, version: str, kind: ComponentType, scope: ComponentScope | None) -> Component:
    facts = _metadata(name)
    (stated, *_) = facts.get_all("License-Expression") or facts.get_all("License") or [""]
    licenses = [LicenseFactory().make_from_string(stated)] if 0 < len(stated) <= _LONGEST_LICENSE else []
    purl = PackageURL("pypi", None, canonicalize_name(name), version)
    return Component(
        type=kind, name=canonicalize_name(name), version=version, scope=scope, purl=purl, licenses=licenses,
        bom_ref=BomRef(purl.to_string()),
    )  # fmt: skip
