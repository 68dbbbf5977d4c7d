"""An environment: typed settings and the composition of components."""
