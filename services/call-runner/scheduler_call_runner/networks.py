"""Which addresses calls may reach: checked on the address that is connected to, so no name can lead astray."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Loopback, link-local (where clouds keep the credentials of their machines), unspecified, multicast, broadcast.
DENIED_BY_DEFAULT: tuple[Network, ...] = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "255.255.255.255/32",
        "::/128",
        "::1/128",
        "fe80::/10",
        "ff00::/8",
    )
)

# Both carry an IPv4 address in their last 32 bits, and a gateway or the kernel may take it out.
_CARRIERS = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::/96"))


@dataclass(frozen=True)
class Networks:
    """An address is denied when a denied network holds it and no allowed one does."""

    denied: Sequence[Network] = DENIED_BY_DEFAULT
    allowed: Sequence[Network] = ()

    def permit(self, address: str) -> bool:
        """Tell whether calls may reach this address."""
        forms = _forms(ipaddress.ip_address(address.partition("%")[0]))
        return not _any_holds(self.denied, forms) or _any_holds(self.allowed, forms)


def _forms(address: Address) -> list[Address]:
    """Return the address and every IPv4 address that is hidden in it."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    hidden = [address.ipv4_mapped, address.sixtofour]
    carried = [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) for carrier in _CARRIERS if address in carrier]
    return [address, *filter(None, hidden), *carried]


def _any_holds(networks: Iterable[Network], forms: Sequence[Address]) -> bool:
    return any(form in network for network in networks for form in forms)
