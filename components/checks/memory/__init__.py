"""Does a model fit the memory of its accelerators: arithmetic on plain data, and reading what a fleet says."""
