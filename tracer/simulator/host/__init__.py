"""The host API of numba.cuda, as far as Numba's simulator lacks it or differs from the real one."""
