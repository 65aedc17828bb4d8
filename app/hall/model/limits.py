"""Limits of what a phone, an address and all of them may ask of the hall's server."""

from __future__ import annotations

from collections import OrderedDict

MOST_PHONES = 1_000
PHONES_OF_ADDRESS = 20  # except for this computer, on which rehearsals run
MOST_CONNECTIONS = 2_500
CONNECTIONS_OF_ADDRESS = 100
LARGEST_BODY = 1_000  # bytes
BODY_SECONDS, SEND_SECONDS, REQUEST_SECONDS = 5.0, 20.0, 10.0
VOTES = 2.0, 6.0  # of a phone: per second, and at once
REQUESTS = 40.0, 200.0  # of an address: per second, and at once
MOST_BUCKETS = 4_000


class RateLimit:
    """A token bucket for each key; the least recent keys are forgotten.

    rate: requests per second. burst: requests at once.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # by key: tokens, time

    def allows(self, key: str, now: float) -> bool:
        """Take a token and return True, unless none is left; now: seconds of a monotonic clock."""
        tokens, then = self._buckets.pop(key, (self.burst, now))
        tokens = min(self.burst, tokens + self.rate * (now - then))
        is_allowed = tokens >= 1
        self._buckets[key] = (tokens - is_allowed, now)
        while len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return is_allowed
