"""Signatures of bundles: SSH signatures (SSHSIG), made and checked by OpenSSH's own ``ssh-keygen``.

The manifest is signed, and names the sha256 of every file. No cryptography is done here:
whoever carries bundles mostly has an SSH key already, perhaps in an agent or on a token, and ``ssh-keygen``
comes with Linux, macOS and Windows, so that a signature can be checked in the room before localcrag is there.
The form is that of https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from localcrag.errors import BundleError

SIGNATURE_NAMESPACE = "localcrag-bundle"
"""What a signature is for: one of something else, by the same key, does not count."""
_SIGNER = "localcrag-bundle"
"""The name by which the given keys are known to ``ssh-keygen`` for the one check."""
_PUBLIC_KEY_PREFIXES = ("ssh-", "ecdsa-", "sk-")


def signature_of(content: bytes, key: Path) -> bytes:
    """The signature of a content by a private key, or by a public one whose private half an agent holds.

    Raises BundleError.
    """
    require_key(key)
    done = _ssh_keygen(["sign", "-f", str(key), "-n", SIGNATURE_NAMESPACE], content)
    if done.returncode or not done.stdout:
        raise BundleError(
            f"the bundle cannot be signed with {key}: {_last_line(done.stderr)}",
            hint="give an SSH key that is yours, and its passphrase",
        )
    return done.stdout


def require_key(key: Path) -> None:
    """Raise BundleError unless there is a file of this key."""
    if not key.is_file():
        raise BundleError(f"there is no key {key}", hint="give the file of an SSH key; ssh-keygen makes one")


def require_signature(content: bytes, signature: bytes, public: Path) -> None:
    """Raise BundleError unless a signature is one of this content by a key in the file ``public``.

    The file holds public SSH keys, one a line, as ``ssh-keygen`` writes them.
    """
    if not signature:
        raise BundleError("the bundle is not signed", hint="`localcrag bundle create --sign KEY` signs it")
    signers = "".join(f"{_SIGNER} {key}\n" for key in _public_keys(public))
    with tempfile.TemporaryDirectory() as folder:
        allowed, given = Path(folder, "signers"), Path(folder, "signature")
        allowed.write_text(signers, "utf-8")
        given.write_bytes(signature)
        options = ["-f", str(allowed), "-I", _SIGNER, "-n", SIGNATURE_NAMESPACE, "-s", str(given)]
        done = _ssh_keygen(["verify", *options], content)
    if done.returncode:
        raise BundleError(
            f"the bundle is not signed by {public}",
            hint="do not install it; ask those who made it for their key by another way",
        )


def _public_keys(public: Path) -> list[str]:
    """The lines of a file of public keys. Raises BundleError if there is none in it."""
    try:
        lines = public.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BundleError(f"cannot read the public key {public}", hint="check the path") from error
    keys = [line.strip() for line in lines if line.strip().startswith(_PUBLIC_KEY_PREFIXES)]
    if not keys:
        raise BundleError(f"there is no public SSH key in {public}", hint="give the file that ends in .pub")
    return keys


def _ssh_keygen(arguments: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run ``ssh-keygen -Y`` on a content. Raises BundleError if it is not installed."""
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", *arguments], input=content, capture_output=True, check=False
        )
    except FileNotFoundError as error:
        raise BundleError(
            "ssh-keygen is not installed, which makes and checks signatures", hint="install OpenSSH"
        ) from error


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "ssh-keygen says nothing"
