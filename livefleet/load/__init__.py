"""``workbench live load``: send requests at a rate, from a trace or as waiting users, and report what clients see."""
