"""Which addresses a page on the web may have.

A search result is somebody else's text: left alone, it could make this machine ask its own router,
a database in the same network, or a cloud's metadata service (server-side request forgery).
"""

from __future__ import annotations

import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_EMBEDDING = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
"""IPv6 networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052, 8215), and the older form."""

_SERVICES = frozenset({80, 443})


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to the internet at large, looking through the IPv6 forms of IPv4."""
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def is_web_port(port: int) -> bool:
    """80 and 443, and those from 1024 on; the rest belong to mail, shells, name servers and the like."""
    return port in _SERVICES or 1024 <= port < 65536


def literal(host: str) -> IPAddress | None:
    """The address that a host spells out, or None where it is a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _embedded(address: IPAddress) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.teredo is not None:
        return address.teredo[1]
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and any(address in network for network in _EMBEDDING):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inner
