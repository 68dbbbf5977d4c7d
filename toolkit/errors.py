"""The exception that ends a command with a message instead of a traceback."""


class UserError(Exception):
    """A problem that the user can fix. The command line prints the message and exits."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code
