"""Flags of engines: their tables, the splitting of command lines, and valid values."""
