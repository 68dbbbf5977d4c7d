"""Hand-written LeaderWorkerSets."""
