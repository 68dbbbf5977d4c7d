"""Builds and checks releases: see ``tools/make_release.py``."""
