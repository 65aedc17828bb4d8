"""What a kernel is compiled to, line by line: PTX, and with NVIDIA's programs SASS with registers and spills."""
