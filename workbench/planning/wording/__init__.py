"""What a review says, in plain words and figures: the same for every format."""
