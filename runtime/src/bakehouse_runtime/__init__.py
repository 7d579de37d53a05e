"""The program of a Bakehouse workload. Modules import heavy libraries inside functions."""
