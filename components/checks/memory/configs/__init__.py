"""Reads a model's ``config.json`` as Hugging Face's transformers write it."""
