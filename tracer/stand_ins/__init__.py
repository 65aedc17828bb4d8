"""Stand-ins for packages that drive CUDA C++ from Python, for computers without a GPU."""
