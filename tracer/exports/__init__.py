"""A trace as files for other programs: tables of its accesses, and a Perfetto trace."""
