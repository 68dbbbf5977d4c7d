"""The images whose server starts only with an accelerator (``devices.yaml``)."""

import functools
import re

from ..contract.tables import load_table
from .images import parse_image


@functools.lru_cache(maxsize=4096)
def vendor_needed_by(reference: str) -> str:
    """Return the vendor whose accelerators the server of an image needs; empty if it needs none, or if unknown."""
    image = parse_image(reference)
    for vendor, rows in load_table(__package__, "devices.yaml").items():
        for row in rows:
            if re.search(row["image"], image.repository) and not re.search(row["unless"], image.tag):
                return str(vendor)
    return ""
