"""The options that several commands share, and the types of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import click

from localcrag.cli.name_completion import KbName, ModelName
from localcrag.errors import UsageError

if TYPE_CHECKING:
    from localcrag.types import MetaValue

FC = TypeVar("FC", bound=Callable[..., Any])
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""A number on the command line: digits, with an optional sign and point."""


def _only(_: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    """The value of an option that may be given once; None for none. Raises UsageError for several."""
    if len(values) > 1:
        given = ", ".join(repr(value) for value in values)
        raise UsageError(
            f"{param.opts[0]} can be given once, and was given {len(values)} times: {given}",
            hint="give one of them",
        )
    return values[0] if values else None


def single_option(*names: str, **settings: Any) -> Callable[[FC], FC]:
    """An option whose last value would be no good guess: given twice, it is an error."""
    return click.option(*names, **settings, multiple=True, callback=_only)


kb_option = single_option(
    "--kb", "kb", type=KbName(), metavar="NAME", help="Knowledge base; by default the one in the settings."
)


def _joined(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> str | None:
    """Several names as one, as :func:`localcrag.knowledge_base.open` knows them; None for none."""
    from localcrag.store.kb_names import joined_name

    return joined_name(names) if names else None


kbs_option = click.option(
    "--kb",
    type=KbName(),
    metavar="NAME",
    multiple=True,
    callback=_joined,
    help="Knowledge base; by default the one in the settings. Repeatable: several are asked as one.",
)
FILTER_HELP = 'Only documents like this: \'team = "x" and title != "Draft"\'.'
filter_option = single_option("--filter", "filter_", metavar="EXPR", help=FILTER_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
model_option = click.option(
    "--model",
    type=ModelName("language"),
    metavar="NAME|FILE|URL",
    help="Language model: a name of `localcrag models list`, a GGUF, or a server that the settings name.",
)
adapter_option = click.option(
    "--adapter",
    type=ModelName("adapter", "auto", "none"),
    metavar="NAME|FILE|none",
    help="LoRA adapter of the language model; `none` for none.",
)
evaluator_option = click.option(
    "--evaluator",
    type=ModelName("evaluator", "none"),
    metavar="NAME|FILE|none",
    help="Evaluator that reranks and judges; `none` for none.",
)


class Words(click.Choice[str]):
    """A choice among the values of an enumeration."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([item.value for item in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The member of the enumeration."""
        return self._kind(super().convert(value, param, ctx))


def parse_meta(pairs: tuple[str, ...]) -> dict[str, MetaValue]:
    """Metadata from ``key=value`` pairs; true, false and plain numbers are typed, the rest stays text.

    Raises UsageError for a pair without ``=`` or with a key that is not a name.
    """
    from localcrag.filters import is_key

    meta: dict[str, MetaValue] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not is_key(key):
            raise UsageError(
                f"--meta {pair!r} is not key=value", hint="for example --meta team=x --meta year=2024"
            )
        meta[key] = _meta_value(value)
    return meta


def _meta_value(value: str) -> MetaValue:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not _NUMBER.fullmatch(value) or not math.isfinite(float(value)):
        return value
    return float(value) if "." in value else int(value)
