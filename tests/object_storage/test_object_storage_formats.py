"""Addresses, the environment, signatures and the head: everything that needs no server."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from localcrag.errors import SettingsError, UsageError
from localcrag.object_address import ObjectAddress
from localcrag.object_storage.head import ContentFile, Head
from localcrag.object_storage.object_endpoint import ObjectEndpoint
from localcrag.object_storage.request_signing import Credentials, UnsignedRequest, signed_headers
from localcrag.store.kb_names import checked_name, joined_name

KEYS = {"AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "s3cret"}
ADDRESS = ObjectAddress("kbs", "team/papers")
SHA256 = "ab" * 32


@pytest.fixture(autouse=True)
def environment() -> None:
    """No server."""


def test_an_address_stands_for_a_name_also_among_several() -> None:
    assert joined_name(["papers", "S3://kbs/team/papers/"]) == "papers+s3://kbs/team/papers"


@pytest.mark.parametrize(
    "address", ["s3://", "s3://kbs", "s3://kbs/", "s3://kbs//x", "s3://KBS/x", "s3://kbs/../x",
                "s3://kbs/a b", "s3://k..s/x", "s3://kbs/a+b", "s3://kbs/.x", f"s3://kbs/{'x' * 121}"]
)  # fmt: skip
def test_an_address_that_cannot_be_used_is_refused(address: str) -> None:
    with pytest.raises(UsageError):
        joined_name([address])


def test_what_only_works_on_this_machine_refuses_an_address() -> None:
    with pytest.raises(UsageError, match="is on object storage"):
        checked_name("s3://kbs/papers")


def test_the_server_is_that_of_the_environment() -> None:
    found = ObjectEndpoint.of(
        ADDRESS, {**KEYS, "AWS_ENDPOINT_URL": "http://127.0.0.1:9000/", "AWS_REGION": "eu-x"}
    )
    assert (found.base, found.path, found.region) == ("http://127.0.0.1:9000", "/kbs", "eu-x")
    assert found.host_header == "127.0.0.1:9000"


def test_without_one_the_server_is_amazon_with_the_bucket_in_the_name_of_the_host() -> None:
    found = ObjectEndpoint.of(ADDRESS, {**KEYS, "AWS_DEFAULT_REGION": "eu-central-1"})
    assert (found.base, found.path) == ("https://kbs.s3.eu-central-1.amazonaws.com", "")
    dotted = ObjectEndpoint.of(ObjectAddress("k.bs", "x"), KEYS)
    assert (dotted.base, dotted.path) == ("https://s3.us-east-1.amazonaws.com", "/k.bs")


@pytest.mark.parametrize(
    "changed", [{"AWS_ENDPOINT_URL": "ftp://x"}, {"AWS_ENDPOINT_URL": "https://u:p@x"},
                {"AWS_ENDPOINT_URL": "https://x/path"}, {"AWS_ENDPOINT_URL": "http://s3.example.org"},
                {"AWS_ENDPOINT_URL": "http://x:port"}, {"AWS_ACCESS_KEY_ID": ""},
                {"AWS_SECRET_ACCESS_KEY": "two\nlines"}]
)  # fmt: skip
def test_an_environment_that_cannot_be_used_is_refused_without_naming_a_key(changed: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        ObjectEndpoint.of(ADDRESS, {**KEYS, **changed})
    assert caught.value.hint
    assert "s3cret" not in f"{caught.value}{caught.value.hint}"
    assert "lines" not in f"{caught.value}"


def test_http_beyond_this_machine_needs_a_word() -> None:
    allowed = {**KEYS, "AWS_ENDPOINT_URL": "http://s3.example.org", "AWS_ALLOW_HTTP": "true"}
    assert ObjectEndpoint.of(ADDRESS, allowed).base == "http://s3.example.org"


def test_no_text_of_an_endpoint_has_the_secret() -> None:
    endpoint = ObjectEndpoint.of(ADDRESS, {**KEYS, "AWS_SESSION_TOKEN": "t0ken"})
    assert "s3cret" not in repr(endpoint)
    assert "t0ken" not in repr(endpoint)


@pytest.mark.parametrize(
    ("path", "query", "headers", "signature"),
    [
        ("/test.txt", {}, {"range": "bytes=0-9"},
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        ("/", {"max-keys": "2", "prefix": "J"}, {},
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)  # fmt: skip
def test_signatures_are_those_of_the_examples_that_amazon_publishes(
    path: str, query: dict[str, str], headers: dict[str, str], signature: str
) -> None:
    keys = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    request = UnsignedRequest("GET", "examplebucket.s3.amazonaws.com", path, query, headers)
    signed = signed_headers(request, keys, "us-east-1", datetime(2013, 5, 24, tzinfo=UTC))
    assert signed["authorization"].endswith(f"Signature={signature}")


def test_a_head_is_read_as_it_was_written() -> None:
    files = {"kb.json": ContentFile(3, SHA256), "lance/passages.lance/data/x.lance": ContentFile(9, SHA256)}
    head = Head("0" * 32, files, {"contents/x": 1.5})
    assert Head.parse(head.to_bytes()) == head
    assert head.keys() == {f"contents/{SHA256}", "lance/passages.lance/data/x.lance"}


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "lance/../../x", "cache/x", "lance//x", "lance/.x", "C:\\x", ".bashrc"]
)
def test_a_head_cannot_name_a_file_elsewhere(path: str) -> None:
    with pytest.raises(ValueError, match="cannot be one"):
        Head.parse(Head("0" * 32, {path: ContentFile(1, SHA256)}).to_bytes())


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"content": {}}'])
def test_rubbish_is_no_head(body: bytes) -> None:
    with pytest.raises(ValueError):
        Head.parse(body)


def test_a_head_that_was_changed_is_refused() -> None:
    found = json.loads(Head("0" * 32, {"kb.json": ContentFile(3, SHA256)}).to_bytes())
    found["content"]["files"]["kb.json"][0] = 4
    with pytest.raises(ValueError, match="not as it was written"):
        Head.parse(json.dumps(found).encode())
