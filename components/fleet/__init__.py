"""The waist: what resources become, and how they refer and contribute to one another."""
