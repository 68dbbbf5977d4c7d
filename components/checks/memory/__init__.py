"""Whether a model fits the memory of its accelerators: the arithmetic, and the memory cases of a fleet."""
