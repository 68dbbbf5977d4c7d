"""How many generated examples a test tries: all at night, a fifth of them on each push."""

import os

AT_NIGHT = "INFERENCE_PLATFORM_EXAMPLES" in os.environ
"""``make test-long`` sets it, which .github/workflows/nightly.yml runs."""
_SHARE = 5
_FEWEST = 20
"""Fewer examples find little, and take no time that could be saved."""


def tries(at_night: int) -> int:
    """Return how many examples to try.

    Args:
        at_night: How many ``make test-long`` tries.
    """
    return at_night if AT_NIGHT else max(at_night // _SHARE, min(at_night, _FEWEST))
