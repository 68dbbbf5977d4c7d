"""An environment: typed settings and the composition of components."""

PROJECT = "inference-platform"
"""The project of the settings: their keys in a stack file start with it, whatever the name of the Pulumi project."""
