"""The text in place of a value that reports do not show: its length and a short digest, as ``[hidden:24:9f3a]``.

Equal values have equal digests, so that reports show which values change. The digest has 16 bits: enough to see a
change, too few to confirm the guess of a password (docs/decisions/0057-values-known-to-be-harmless.md).
"""

import hashlib
import re

HIDDEN = re.compile(r"\[hidden:\d+:[0-9a-f]{4}\]")
_DIGITS = 4


def hidden(value: object) -> str:
    """Return what reports show in place of a value."""
    text = str(value)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_DIGITS]
    return f"[hidden:{len(text)}:{digest}]"
