"""The error of the acceptance test."""


class AcceptanceError(Exception):
    """A step failed, or a run cannot start; the message says why and what to do."""
