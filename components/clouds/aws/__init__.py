"""Everything specific to AWS: facts, prices, checks and node plans."""
