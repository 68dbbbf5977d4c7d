"""The process that stands behind the pods: it follows them in the cluster and answers for them on loopback."""
