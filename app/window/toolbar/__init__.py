"""The bar at the top: scenarios, parameters, options."""
