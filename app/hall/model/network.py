"""The addresses of a hall: this computer in a private network, and the peers that may connect."""

from __future__ import annotations

import ipaddress
import socket

ELSEWHERE = "192.0.2.1", 9  # RFC 5737: an address of no computer; nothing is sent to it
LOOPBACK = "127.0.0.1"


def own_address() -> str:
    """Return this computer's IPv4 address in its network, "" without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)  # only chooses the route
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
    return "" if is_loopback(address) else address


def is_private(address: str) -> bool:
    """Check whether an address belongs to this computer or a private network."""
    parsed = _parsed(address)
    return parsed is not None and (parsed.is_loopback or parsed.is_private or parsed.is_link_local)


def is_loopback(address: str) -> bool:
    """Check whether an address belongs to this computer."""
    parsed = _parsed(address)
    return parsed is not None and parsed.is_loopback


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None
