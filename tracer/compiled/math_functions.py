"""Functions of real numbers that both the rewriter and the compiled code refer to by name."""

from __future__ import annotations

# Functions of `math` with one argument, with their NumPy names; functions with two arguments.
UNARY_FUNCTIONS = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "", "acosh": "", "atanh": "", "erf": "", "erfc": "", "gamma": "",
    "lgamma": "",
}  # fmt: skip
BINARY_FUNCTIONS = ("atan2", "pow", "hypot", "remainder", "fmod")
