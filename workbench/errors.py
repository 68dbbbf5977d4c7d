"""The exception that ends a command with a message instead of a traceback."""

from toolkit.errors import UserError

WorkbenchError = UserError
"""An alias: errors of the live fleet and of the toolkit end a command in the same way."""
