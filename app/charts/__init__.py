"""Charts of measurements as plain data: from files to figures, without Qt."""
