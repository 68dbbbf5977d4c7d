"""Builds the site of the documentation: the pages under ``docs/`` and the reference, which is generated."""
