"""The engine that compiles kernels for the CPU; here is only what its four rooms share."""
