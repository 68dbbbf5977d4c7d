"""The native APIs of the engines."""
