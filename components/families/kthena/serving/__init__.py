"""What a ModelServing becomes: LeaderWorkerSets, Services and PodGroups."""
