"""Renders ModelServers and ModelRoutes as endpoints."""
