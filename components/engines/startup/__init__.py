"""The checks of its arguments with which an engine starts: ``startup.yaml`` in the folder of an engine."""
