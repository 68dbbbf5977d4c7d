"""The process behind the pods: watches the simulated pods of a cluster and serves their engines on loopback."""
