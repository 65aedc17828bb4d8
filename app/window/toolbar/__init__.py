"""The bar at the top, with its fields and options; what an edit means is decided in model."""
