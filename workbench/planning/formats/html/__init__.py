"""The HTML format of a review: one self-contained page without scripts."""
