"""What a Bakehouse workload executes. Modules import heavy libraries only where they use them."""
