"""Functions of real numbers that both the rewriting and compiled code know by name."""

from __future__ import annotations

# Functions of math of one number, with those of NumPy; of two.
OF_ONE = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "", "acosh": "", "atanh": "", "erf": "", "erfc": "", "gamma": "",
    "lgamma": "",
}  # fmt: skip
OF_TWO = ("atan2", "pow", "hypot", "remainder", "fmod")
