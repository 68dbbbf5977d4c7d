"""The settings of a server that determine how much memory it uses."""
