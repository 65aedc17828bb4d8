"""PTX and SASS of the kernel next to its source, line by line."""
