"""Inference engines: facts as data, one folder an engine, and one reader each of what is said of them."""
