"""Times and timelines of the user's CUDA C++ programs on a GPU."""
