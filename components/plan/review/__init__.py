"""Reviews of a revision: its snapshot as plain data, and the changes compared with another revision."""
