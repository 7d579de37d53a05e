"""Computes text embeddings with an encoder of its own, without torch."""
