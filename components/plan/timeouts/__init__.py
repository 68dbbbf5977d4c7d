"""Timeouts of the objects that the Kubernetes provider of Pulumi waits for."""
