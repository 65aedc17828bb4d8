"""The compiled code of a kernel, line by line: PTX, and with NVIDIA's programs SASS with registers and spills."""
