"""The second depth of the counters: the kernel after LLVM's optimiser, run on the CPU with each access counted."""
