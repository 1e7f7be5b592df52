"""Which addresses calls may reach."""

import ipaddress

import pytest

from scheduler_call_runner.networks import DENIED_BY_DEFAULT, Networks


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "169.254.169.254",
        "224.0.0.1",
        "239.255.255.255",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::127.0.0.1",
    ],
)
def test_loopback_link_local_unspecified_and_multicast_are_denied_in_every_disguise(address: str) -> None:
    assert not Networks().permit(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.1.1", "93.184.216.34", "2606:2800:220:1::1", "fd00::1"])
def test_everything_else_is_permitted(address: str) -> None:
    assert Networks().permit(address)


def test_an_allowed_network_makes_an_exception_also_in_disguise() -> None:
    networks = Networks(allowed=[ipaddress.ip_network("127.0.0.1/32")])
    assert networks.permit("127.0.0.1")
    assert networks.permit("::ffff:127.0.0.1")
    assert not networks.permit("127.0.0.2")
    assert not networks.permit("::1")


def test_other_denied_networks_replace_the_default() -> None:
    networks = Networks(denied=[ipaddress.ip_network("10.0.0.0/8")])
    assert not networks.permit("10.1.2.3")
    assert not networks.permit("::ffff:10.1.2.3")
    assert networks.permit("127.0.0.1")
    assert ipaddress.ip_network("127.0.0.0/8") in DENIED_BY_DEFAULT
