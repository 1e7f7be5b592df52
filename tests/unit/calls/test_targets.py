"""URLs, taken apart."""

import pytest

from scheduler_call_runner.targets import Target


@pytest.mark.parametrize(
    ("url", "host_header", "path"),
    [
        ("http://Example.COM", "example.com", "/"),
        ("http://example.com:80/a?b=c#d", "example.com", "/a?b=c"),
        ("https://example.com:443/", "example.com", "/"),
        ("https://example.com:8443/", "example.com:8443", "/"),
        ("http://user:pass@example.com/x", "example.com", "/x"),
        ("http://[2001:DB8::1]:8080/", "[2001:db8::1]:8080", "/"),
        ("http://bücher.example/ä b", "xn--bcher-kva.example", "/%C3%A4%20b"),
        ("http://example.com?x", "example.com", "/?x"),
        ("http://example.com/a/../b", "example.com", "/b"),
    ],
)
def test_a_url_has_an_origin_and_a_path(url: str, host_header: str, path: str) -> None:
    target = Target.of(url)
    assert (str(target.origin), target.path) == (host_header, path)


def test_a_target_prints_without_path_and_user() -> None:
    assert "s3cret" not in repr(Target.of("http://s3cret@example.com/s3cret?s3cret"))
