"""LeaderWorkerSets written by hand."""
