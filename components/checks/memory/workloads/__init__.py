"""The memory case of a workload: what it serves, on which accelerators."""
