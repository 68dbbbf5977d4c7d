"""Dated prices of AWS."""
