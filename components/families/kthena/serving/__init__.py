"""Renders ModelServings as LeaderWorkerSets, Services and PodGroups."""
