"""Everything that only AWS knows."""
