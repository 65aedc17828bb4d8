"""Optimised IR run on the CPU: each access of each lane in lockstep, its requests counted."""
