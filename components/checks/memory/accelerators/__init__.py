"""Accelerators: what a program sees of them, how they can share a model, and which instance types have enough."""
