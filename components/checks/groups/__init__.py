"""Groups of pods: whether the arguments of an engine describe the group that runs it."""
