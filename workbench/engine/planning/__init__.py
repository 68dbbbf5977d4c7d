"""Planning: the operation for each resource, and the deletions."""
