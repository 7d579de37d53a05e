"""Builds the starter image models: drawn scenes, trainings, figures and cards."""
