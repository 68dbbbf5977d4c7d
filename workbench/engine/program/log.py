"""Where a program's log goes: to stderr, each line with its level in front, as the Pulumi CLI shows it."""

import logging
import sys

from components.api.texts.printable import printable_lines
from components.api.texts.secrets import masked_text


class _Lines(logging.Handler):
    """Writes a record as a line."""

    def emit(self, record: logging.LogRecord) -> None:
        text = printable_lines(masked_text(record.getMessage()))
        print(f"{record.levelname.lower()}: {text}", file=sys.stderr)  # noqa: T201


_LINES = _Lines(logging.WARNING)


def program_logger() -> logging.Logger:
    """Return the logger for ``pulumi.log``."""
    logger = logging.getLogger("pulumi")
    logger.addHandler(_LINES)  # once: a handler that is there is not added again
    return logger
