"""Parts of ModelStorage: arguments, settings and file systems."""
