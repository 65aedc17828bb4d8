"""Why a kernel is as fast as it is, in figures: occupancy, what its code takes, what a profiler counted."""
