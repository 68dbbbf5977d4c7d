"""``workbench watch``, ``fault`` and ``speed``: what one sees of a live fleet, and makes happen in it."""
