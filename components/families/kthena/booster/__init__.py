"""Expands ModelBoosters into the resources that they stand for, and renders those."""
