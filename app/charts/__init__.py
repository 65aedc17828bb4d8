"""Charts of measured times as data, with their words and numbers. They are drawn in views/charts."""
