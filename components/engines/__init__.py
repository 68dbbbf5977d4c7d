"""Inference engines: facts as tables, one folder per engine, and the readers of these tables."""
