"""Build the simulated fleet of a stack from its plan."""
