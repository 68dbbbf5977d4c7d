"""Conversion of resources to the kinds of another family, with proof that the same pods run afterwards."""
