"""The frame of ``up``: starting the simulated cluster and the live fleet, and printing the tables."""
