"""Whether a model fits, before there are manifests: the arithmetic and the prices of a plan, for all accelerators."""
