"""The one exception that ends a command with a message instead of a traceback."""

from toolkit.errors import UserError

WorkbenchError = UserError
"""The command line's name for it: what the live fleet and the shared helpers raise ends a command just the same."""
