"""What exists on AWS around a cluster, read from the API or from files, and the settings that use it."""
