"""Components that install what models need in a cluster."""
