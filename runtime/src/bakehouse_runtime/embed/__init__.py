"""Texts as vectors, by an encoder of this package's own: without torch."""
