"""Sections of the settings that are large."""
