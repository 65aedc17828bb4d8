"""The window, the command line and the pictures: what people see."""
