"""Costs of a fleet and its environment, from dated prices."""
