"""Data and pictures that ship with the program; what makes and reads them is in tracer/hardware and app."""
