"""Applying a plan: creating, updating, awaiting and deleting objects."""
