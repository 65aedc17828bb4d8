"""What people see: the window, the command line, pictures. Whatever runs or analyses a kernel is in tracer."""
