"""The OpenAI API as the engines implement it."""
