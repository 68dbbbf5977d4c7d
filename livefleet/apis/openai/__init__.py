"""OpenAI's API, as the engines that have it speak it."""
