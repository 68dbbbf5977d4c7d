"""What of a workload decides about memory."""
