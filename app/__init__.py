"""The user interface: the window, the command line, pictures. Code that runs or analyses kernels is in tracer."""
