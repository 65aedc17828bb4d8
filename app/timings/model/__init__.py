"""Charts of measured times as data, with their words and numbers. `drawing` draws them."""
