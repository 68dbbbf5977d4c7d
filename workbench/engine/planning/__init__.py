"""Planning: what becomes of each resource, and what goes."""
