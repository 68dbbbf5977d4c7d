"""What a ModelStorage is made of."""
