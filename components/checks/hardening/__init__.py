"""What an environment asks of every workload beside serving."""
