"""The sentences and figures of a review, which all formats share."""
