"""The acceptance test on AWS: its project, steps, search for leftovers, and report."""
