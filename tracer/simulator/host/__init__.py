"""The host's side of numba.cuda as programs use it, where Numba's simulator lacks it or has less than a GPU's."""
