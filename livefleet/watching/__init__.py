"""``workbench live watch``, ``fault`` and ``speed``: show and change a running fleet."""
