"""The addresses that a page on the web may have.

A search result is text by somebody else. Unchecked, its address could make this machine send a request to
its own router, a database in the same network, or the metadata service of a cloud: server-side request
forgery.
"""

from __future__ import annotations

import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_IPV4_EMBEDDING_NETWORKS = tuple(map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")))
"""IPv6 networks whose last 32 bits are an IPv4 address: NAT64 (RFC 6052, 8215), and the older form."""

_WEB_PORTS = frozenset({80, 443})


def is_public(address: IPAddress) -> bool:
    """Whether an address is public; of an IPv6 form of an IPv4 address, whether that one is."""
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
    """Whether a page may have that port: 80, 443, or one from 1024 on.

    The others belong to mail, shells, name servers and the like.
    """
    return port in _WEB_PORTS or 1024 <= port < 65536


def literal(host: str) -> IPAddress | None:
    """The IP address that a host is written as, or None if it is a name."""
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
    if inner is None and any(address in network for network in _IPV4_EMBEDDING_NETWORKS):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inner
