"""The built site made ready to be published, on a copy of it."""
