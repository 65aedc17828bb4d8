"""Connections of the hall's server: how many there may be, from where, and for how long without a request."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import ClassVar, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from .model.limits import CONNECTIONS_OF_ADDRESS, MOST_CONNECTIONS, REQUEST_SECONDS
from .model.network import is_loopback, is_private


class GuardedProtocol(H11Protocol):
    """An HTTP connection that is refused above the limits, and closed if no request comes."""

    by_address: ClassVar[Counter[str]] = Counter()  # open connections of the process

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection from this computer or a private network, up to the limits."""
        super().connection_made(transport)
        self._address = cast("tuple[str, int]", transport.get_extra_info("peername") or ("", 0))[0]
        self.by_address[self._address] += 1
        few = self.by_address[self._address] <= CONNECTIONS_OF_ADDRESS or is_loopback(self._address)
        if not is_private(self._address) or not few or self.by_address.total() > MOST_CONNECTIONS:
            transport.abort()
            return
        self._alarm = self.loop.call_later(REQUEST_SECONDS, self._end_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.by_address[self._address] -= 1
        if not self.by_address[self._address]:
            del self.by_address[self._address]
        super().connection_lost(exc)

    def _end_silent(self) -> None:
        """Close the connection if no complete request has come."""
        if self.cycle is None and not self.transport.is_closing():
            self.transport.abort()
