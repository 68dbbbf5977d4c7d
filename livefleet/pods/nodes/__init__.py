"""Nodes that come and go: held in reserve by cordoning, started for pods that find no room, sent back when idle."""
