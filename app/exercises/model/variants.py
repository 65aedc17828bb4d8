"""Variants of an exercise: a seed chooses numbers, which replace others in the texts of its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

SEED = "SEED"  # a number that every exercise may use; the others are lines of the block, such as "WHITE: 255, 200"
LARGEST_SEED = 2**31 - 1
MOST_VALUES = 16
VARIANT = "variant"  # the key of such a line
VALUES = re.compile(r"-?\d{1,6}(?:\s*,\s*-?\d{1,6})*")
ONLY = re.compile(r"[ \t]*(?:#|//|<!--) only (\w+) = (-?\d+)(?: -->)?$")

Variant = Mapping[str, int]


class VariantError(ValueError):
    """A line does not name a number and its values; the text is one sentence."""


def parse_choices(text: str) -> tuple[str, tuple[int, ...]]:
    """Parse "WHITE: 255, 200": a name and the values to choose from, first that of the exercise without a seed."""
    name, _, values = (part.strip() for part in text.partition(":"))
    if not name.isidentifier() or not name.isupper() or name == SEED or not VALUES.fullmatch(values):
        raise VariantError("Name a constant and its values, such as variant: WHITE: 255, 200, 100.")
    numbers = tuple(int(value) for value in values.split(","))
    if not 2 <= len(set(numbers)) == len(numbers) <= MOST_VALUES:
        raise VariantError(f"A variant needs 2 to {MOST_VALUES} different values.")
    return name, numbers


def choices_in(text: str) -> dict[str, tuple[int, ...]]:
    """Return the values of each name that the Markdown of an exercise lists; lines with a mistake are left out."""
    choices: dict[str, tuple[int, ...]] = {}
    for line in text.splitlines():
        if line.startswith(f"{VARIANT}:"):
            with suppress(VariantError):
                name, values = parse_choices(line.removeprefix(f"{VARIANT}:"))
                choices.setdefault(name, values)
    return choices


def variant_of(choices: Mapping[str, Sequence[int]], name: str, seed: int) -> Variant:
    """Choose a value for each name. Seed 0 chooses the first values; the same seed always chooses the same ones.

    name: of the exercise, so that one seed does not choose alike in all exercises.
    """
    number = int.from_bytes(hashlib.sha256(f"{name} {seed}".encode()).digest()) if seed else 0
    variant = {SEED: seed}
    for constant, values in choices.items():
        number, index = divmod(number, len(values))
        variant[constant] = values[index]
    return variant


def in_variant(text: str, variant: Variant) -> str:
    """Return the text of a file in a variant: "{WHITE}", "WHITE = 255", and lines that end in "# only WHITE = 255"."""
    lines = [line for line in text.split("\n") if _is_kept(line, variant)]
    text = "\n".join(ONLY.sub("", line) for line in lines)
    for name, value in variant.items():
        text = text.replace(f"{{{name}}}", str(value))
        text = re.sub(rf"^((?:#define )?{name}(?: = | ))-?\d+\b", rf"\g<1>{value}", text, flags=re.MULTILINE)
    return text


def _is_kept(line: str, variant: Variant) -> bool:
    match = ONLY.search(line)
    return match is None or match[1] not in variant or variant[match[1]] == int(match[2])
