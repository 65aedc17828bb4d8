"""The wavefronts of a request to shared memory, the rule read literally."""

from collections import Counter, defaultdict
from collections.abc import Mapping


def count_wavefronts(first: Mapping[int, int], size: int) -> int:
    """Return the wavefronts in which lanes touch elements of so many bytes; first: the first byte of each lane's."""
    together = {8: 16, 16: 8}.get(size, 32)  # lanes
    if any(all(first.get(lane ^ bit, byte) == byte for lane, byte in first.items()) for bit in (1, 2)):
        together = min(32, 2 * together)
    words = defaultdict(set)
    for lane, byte in first.items():
        words[lane // together] |= {touched // 4 for touched in range(byte, byte + size)}
    return sum(max(Counter(word % 32 for word in each).values()) for each in words.values())
