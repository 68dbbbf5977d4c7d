"""``workbench load``: requests at a rate, from a trace or by users who wait, and what became of them."""
