"""What ``up`` does beside deploying: the cluster before it, the live fleet around it, the tables after it."""
