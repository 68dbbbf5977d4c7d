"""A fleet that answers: simulated engines behind simulated pods, a real gateway, real autoscaling."""
