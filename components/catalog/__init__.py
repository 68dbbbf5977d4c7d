"""Facts as data, each with a typed reader."""
