"""A stand-in for the controller of LeaderWorkerSets, since the simulated cluster has none."""
