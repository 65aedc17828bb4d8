"""CUDA C++ programs, compiled for this machine with a C++ compiler and traced without a GPU."""
