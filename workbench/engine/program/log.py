"""Where a program's log goes: to stderr, each line with its level in front, as the Pulumi CLI shows it."""

import logging
import sys

from components.contract.texts.printable import printable_lines
from components.contract.texts.secrets import masked_text


class _Lines(logging.Handler):
    """Writes a record as a line."""

    secrets: frozenset[str] = frozenset()

    def emit(self, record: logging.LogRecord) -> None:
        text = printable_lines(masked_text(record.getMessage(), self.secrets))
        print(f"{record.levelname.lower()}: {text}", file=sys.stderr)  # noqa: T201


_LINES = _Lines(logging.INFO)


def program_logger(secrets: frozenset[str]) -> logging.Logger:
    """Return the logger for ``pulumi.log``, which shows none of these secrets."""
    _LINES.secrets = secrets
    logger = logging.getLogger("pulumi")
    logger.setLevel(logging.INFO)  # notes are shown as well
    logger.addHandler(_LINES)  # once: a handler that is there is not added again
    return logger
