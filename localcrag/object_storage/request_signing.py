"""The signature of a request to S3: AWS Signature Version 4, in the ``Authorization`` header.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
_ALGORITHM, _SERVICE, _TERMINATOR = "AWS4-HMAC-SHA256", "s3", "aws4_request"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The keys that requests are signed with; no text of this object has the secret ones."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class UnsignedRequest:
    """The parts of a request that are signed; ``path`` is not encoded yet, ``host`` has an unusual port.

    ``sha256`` is the hexadecimal digest of the body. All ``headers`` are signed; their names are lower case.
    """

    method: str
    host: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    sha256: str = EMPTY_SHA256


def encoded_path(path: str) -> str:
    """The path as it stands in the request and in its signature."""
    return quote(path, safe="/-_.~")


def encoded_query(query: Mapping[str, str]) -> str:
    """The query as it stands in the request and in its signature: sorted, each value encoded."""
    return "&".join(f"{quote(key, safe='-_.~')}={quote(query[key], safe='-_.~')}" for key in sorted(query))


def signed_headers(
    request: UnsignedRequest, credentials: Credentials, region: str, now: datetime
) -> dict[str, str]:
    """The headers of the request, with its signature, for a server in this region; ``now`` is in UTC."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    headers = {"host": request.host, "x-amz-content-sha256": request.sha256, "x-amz-date": stamp}
    if credentials.session_token:
        headers["x-amz-security-token"] = credentials.session_token
    headers |= request.headers
    names = ";".join(sorted(headers))
    canonical = "\n".join(
        [
            request.method,
            encoded_path(request.path),
            encoded_query(request.query),
            *(f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)),
            "",
            names,
            request.sha256,
        ]
    )
    scope = f"{stamp[:8]}/{region}/{_SERVICE}/{_TERMINATOR}"
    text = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (stamp[:8], region, _SERVICE, _TERMINATOR):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    credential = f"Credential={credentials.access_key}/{scope}"
    authorization = f"{_ALGORITHM} {credential},SignedHeaders={names},Signature={signature}"
    return headers | {"authorization": authorization}
