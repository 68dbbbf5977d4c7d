"""What in a cluster differs from the plan, and who changed it."""
