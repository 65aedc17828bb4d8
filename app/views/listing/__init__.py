"""PTX and SASS of the kernel below its source, line by line."""
