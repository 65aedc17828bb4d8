"""What both engines share: kernels loaded, accesses recorded, runs finished into traces. No engine is here."""
