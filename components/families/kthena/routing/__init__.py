"""What ModelServers and ModelRoutes become: endpoints."""
