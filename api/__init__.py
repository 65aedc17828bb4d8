"""The public API for programs, notebooks and tests: trace launches, inspect them and check them."""
