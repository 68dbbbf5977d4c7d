"""ComponentResources that install what serving needs in a cluster."""
