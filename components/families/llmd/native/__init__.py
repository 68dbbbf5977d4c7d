"""Variants without a controller: the plan sizes them, an autoscaler does the rest."""
