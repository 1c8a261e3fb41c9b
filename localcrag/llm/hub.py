"""Fetching a model file from the Hugging Face hub, for ``localcrag models pull`` alone."""

from __future__ import annotations

import os
from pathlib import Path

from localcrag.errors import ModelError, ModelFileError, ModelNotFound
from localcrag.llm.gguf import read_metadata, require_evaluator, require_generator
from localcrag.llm.registry import ModelEntry, Registry, Role, sha256


def pull(home: Path, repository: str, file: str, name: str, digest: str | None) -> ModelEntry:
    """Download, check, and only then add. Raises ModelNotFound, ModelFileError, ModelError."""
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ.pop(variable, None)
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        path = Path(hf_hub_download(repository, file, local_dir=home / "models" / name))
    except LocalEntryNotFoundError as error:
        raise ModelError(
            "the hub cannot be reached",
            hint="fetch the file on a connected machine, copy it here, and use localcrag models add",
        ) from error
    except HfHubHTTPError as error:
        raise ModelNotFound(f"the hub has no {file} in {repository}, or it needs a login") from error
    except ValueError as error:
        raise ModelNotFound(f"{repository!r} is not the name of a repository: {error}") from error
    if digest and sha256(path) != digest.lower():
        path.unlink()
        raise ModelFileError(f"{file} has another sha256 than {digest}; it was deleted")
    role = Role.EVALUATOR if read_metadata(path).evaluator else Role.LANGUAGE
    (require_evaluator if role is Role.EVALUATOR else require_generator)(path)
    return Registry(home).add(name, path, role, f"{repository} {file}")
