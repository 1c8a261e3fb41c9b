"""The bounds within which a client of the MCP server may act: knowledge bases, the web, files to ingest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localcrag import knowledge_base
from localcrag.errors import UsageError
from localcrag.knowledge_base import KnowledgeBase
from localcrag.object_address import SCHEME
from localcrag.serve.client import AskableKnowledgeBase
from localcrag.settings import Settings
from localcrag.types import WebPolicy


@dataclass(frozen=True, slots=True)
class McpAccess:
    """What a client may reach.

    ``open_askable`` opens a knowledge base to search and to ask, in the warm process if there is one, and
    ``open_held`` in this process. ``only`` are the knowledge bases that may be named, the first one by
    default; if it is empty, all of them. Files below ``ingest_folder`` may be ingested; None: no files.
    """

    settings: Settings
    open_askable: Callable[[str], AskableKnowledgeBase]
    open_held: Callable[[str], KnowledgeBase]
    only: tuple[str, ...] = ()
    ingest_folder: Path | None = None

    @property
    def default(self) -> str:
        """The knowledge base that is meant if a call names none."""
        return self.only[0] if self.only else self.settings.kb

    def names(self) -> list[str]:
        """The knowledge bases there are, of those that may be named. Raises StoreError."""
        return [name for name in knowledge_base.names(self.settings) if not self.only or name in self.only]

    def askable(self, kb: str | None) -> AskableKnowledgeBase:
        """A knowledge base to search and to ask. Raises UsageError if it may not be named."""
        return self.open_askable(self._permitted(kb))

    def held(self, kb: str | None) -> KnowledgeBase:
        """A knowledge base to read and to fill. Raises UsageError if it may not be named."""
        return self.open_held(self._permitted(kb))

    def _permitted(self, kb: str | None) -> str:
        if kb is None:
            return self.default
        elsewhere = SCHEME in kb.lower() and kb != self.default  # with the keys of the user
        if (self.only and kb not in self.only) or (not self.only and elsewhere):
            raise UsageError(
                f"the knowledge base {kb!r} is not served here",
                hint=f"one of: {', '.join(self.only or self.names())}",
            )
        return kb

    @property
    def web(self) -> WebPolicy:
        """Whether the web may be searched: only with the policy auto, for nobody can be asked here."""
        return WebPolicy.AUTO if self.settings.web.policy is WebPolicy.AUTO else WebPolicy.NEVER

    @property
    def web_in_words(self) -> str:
        """Whether the web may be searched, in a sentence for the client."""
        if self.settings.offline or self.settings.web.policy is WebPolicy.NEVER:
            return "The web is never searched."
        if self.web is WebPolicy.NEVER:
            return (
                "The web is not searched: the settings say that a person must agree to each query, and "
                "nobody can be asked here."
            )
        return (
            "If the documents do not answer, one line made of the question is sent to the search server of "
            "the user."
        )

    def ingestible(self, path: str) -> str:
        """The absolute path of a file or folder that may be ingested; ``path`` may be relative to the folder.

        Links are followed before it is looked at. Raises UsageError for a path that does not exist or that
        lies outside.
        """
        folder = self.ingest_folder
        if folder is None:
            raise UsageError("nothing may be ingested here", hint="start it with --allow-ingest FOLDER")
        try:
            real = (folder / path).resolve(strict=True)
            inside = real.is_relative_to(folder.resolve(strict=True))
        except (OSError, ValueError, RuntimeError):
            inside, real = False, folder
        if not inside:
            raise UsageError(
                f"{path!r} is no file or folder below {folder}",
                hint="only what lies there may be ingested; patterns and web addresses may not",
            )
        return str(real)
