"""Pure functions: resources in; Kubernetes objects, endpoints, node demand and needs out."""
