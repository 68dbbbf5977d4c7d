"""What serves models in a cluster: reading it, recognizing it, and reporting it."""
