"""The engine that compiles kernels for the CPU; this folder holds the code that its five subpackages share."""
