"""Why a kernel takes its time, in figures: occupancy, resources, and counters of a profiler."""
