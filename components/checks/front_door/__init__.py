"""Access for clients outside the cluster: gateway, routes, load balancers and limits."""
