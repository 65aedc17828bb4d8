"""Execution of optimised IR on the CPU: lanes run in lockstep, and their requests are counted."""
