"""Estimates of speed against published measurements of servers: read, measured, fitted, drawn."""
