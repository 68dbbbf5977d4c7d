"""The controller of LeaderWorkerSets, which the control plane of Kubernetes lacks."""
