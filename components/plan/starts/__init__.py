"""Cold-start budgets: how long the first replica on a node takes to serve, and what would shorten it."""
