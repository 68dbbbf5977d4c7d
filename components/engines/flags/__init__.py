"""Flags of engines: their tables, how a command line is split by them, and what a value may be."""
