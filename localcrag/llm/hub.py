"""Downloads a model file from the Hugging Face hub; only ``localcrag models pull`` uses it."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePath

from localcrag.errors import (
    LocalCragError,
    ModelError,
    ModelFileError,
    ModelNotFound,
    StorageFull,
    UsageError,
)
from localcrag.llm.model_entry import ModelEntry, sha256
from localcrag.llm.model_file_checks import checked_role
from localcrag.llm.registry import Registry

REACHING_SECONDS = 10.0
"""Seconds in which the hub must give a first sign: its own client tries six times before it gives up."""


def pull(home: Path, repository: str, file: str, name: str, digest: str | None) -> ModelEntry:
    """Download a model file, check it, and add it to the registry only if it is sound.

    Args:
        home: localcrag's home folder; the file goes to ``models/NAME`` in it.
        repository: the repository on the hub, as OWNER/NAME.
        file: the file's path in the repository.
        name: the name that the model gets here.
        digest: the sha256 that the file must have, in hexadecimal; None to accept any.

    Returns the new entry. Raises UsageError, ModelNotFound, ModelFileError, ModelError, StorageFull.
    """
    if name in ("", "..") or len(PurePath(name).parts) != 1 or ".." in PurePath(file).parts:
        raise UsageError(
            f"{name!r} cannot be the name of a model", hint="give another one with --name, without a path"
        )
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ.pop(variable, None)
    require_hub()
    with _tidied(home / "models" / name) as folder:
        path = _downloaded(repository, file, folder)
    if digest and sha256(path) != digest.lower():
        path.unlink()
        raise ModelFileError(
            f"{file} has another sha256 than {digest}; it was deleted",
            hint="fetch it again; if it differs again, ask its publisher for the right digest",
        )
    return Registry(home).add(name, path, checked_role(path), f"{repository} {file}")


def require_hub() -> None:
    """Raise ModelError if nothing answers at the address of the hub; any answer will do."""
    from huggingface_hub import constants, get_session
    from huggingface_hub.errors import HTTPError as Lost  # type: ignore[attr-defined]  # its HTTP library's
    from huggingface_hub.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]  # it prints each of its tries
    try:
        get_session().head(constants.ENDPOINT, timeout=REACHING_SECONDS)
    except (OSError, Lost) as error:
        raise _unreachable() from error


def _unreachable() -> ModelError:
    return ModelError(
        "the hub cannot be reached",
        hint="fetch the file on a connected machine, copy it here, and use localcrag models add",
    )


@contextlib.contextmanager
def _tidied(folder: Path) -> Iterator[Path]:
    """The folder for a download; a new one is deleted after an error, unless a part of the file is in it."""
    new = not folder.exists()
    try:
        yield folder
    except BaseException:
        if new and not any(folder.rglob("*.incomplete")):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                folder.parent.rmdir()
        raise


def _downloaded(repository: str, file: str, folder: Path) -> Path:
    """The file of a repository, downloaded to a folder. Raises ModelNotFound, ModelError, StorageFull."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    from huggingface_hub.errors import HTTPError as Lost  # type: ignore[attr-defined]  # its HTTP library's

    held = os.path.lexists(folder / file)
    try:
        return Path(hf_hub_download(repository, file, local_dir=folder))
    except LocalEntryNotFoundError as error:
        raise _unreachable() from error
    except HfHubHTTPError as error:
        raise ModelNotFound(
            f"the hub has no {file} in {repository}, or it needs a login",
            hint="look for its exact name on the repository's page, or take one without a login",
        ) from error
    except ValueError as error:
        raise ModelNotFound(
            f"{repository!r} is not the name of a repository: {error}",
            hint="a repository is named OWNER/NAME",
        ) from error
    except (OSError, Lost, RuntimeError) as error:  # hf_xet, which downloads, raises the last
        if not held and os.path.lexists(folder / file):
            (folder / file).unlink()  # a copy from the hub's own cache that was cut off
        raise _download_error(file, error) from error


def _download_error(file: str, error: Exception) -> LocalCragError:
    """The typed error of a download that did not finish."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return StorageFull(f"no space left to fetch {file}", hint="make room and try again")
    said = (isinstance(error, OSError) and error.strerror) or str(error).strip() or type(error).__name__
    return ModelError(
        f"{file} could not be fetched whole: {said.splitlines()[0]}",
        hint="try again; nothing was added. Or copy the file here, and use localcrag models add",
    )
