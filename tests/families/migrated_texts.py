"""Texts of manifests after a conversion, as `migrate` writes them."""

from collections.abc import Callable
from pathlib import Path

from components.families.migration import Batch
from workbench.migration.files import ManifestFile, convert_files


def migrated_text(text: str, convert: Callable[[Batch], None]) -> str:
    """Return the text of a file after a conversion of its documents."""
    file = ManifestFile(Path("models.yaml"), text, lambda _: True)
    batch = Batch(list(file.documents))
    convert(batch)
    (written,) = convert_files([file], batch.documents).values()
    return written
