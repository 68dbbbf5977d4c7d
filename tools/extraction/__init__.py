"""Reads the flags of an engine's release from its sources, and states them in the engine's table."""
