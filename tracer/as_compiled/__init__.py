"""Counters of the compiled kernel: LLVM optimises it, and the CPU runs it with each access counted."""
