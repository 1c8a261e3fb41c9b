"""SentencePiece's unigram tokenizer (Kudo, arXiv 1804.10959), of a vocabulary that another file carries.

The library ``sentencepiece`` reads the 250,000 pieces of a multilingual model in half the time and a fifth of
the memory of ``tokenizers``, and normalises as the model was trained: with NFKC but for some characters, and
without putting combining marks in another order.

Its file is a message of Protocol Buffers. Two such messages in a row are one with the fields of both, so that
the rules of normalisation are written as the library gives them, and the pieces after them; the classes that
the library generates from its schema would demand the newest release of ``protobuf``.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

FILE_NAME = "sentencepiece.model"
_NORMALISATION = "nmt_nfkc"
"""The library's name for the rules that XLM-R and the models after it were trained with."""
_PIECES, _TRAINER = 1, 2
"""The fields of the message: the pieces, and what the trainer was told."""
_TEXT, _SCORE, _KIND = 1, 2, 3
"""The fields of a piece."""
_UNKNOWN_ID = 40
"""The trainer's field for the id of the unknown piece."""
_UNKNOWN, _CONTROL = 2, 3
"""The kinds of pieces that no text has."""
_VARINT, _BYTES, _FLOAT = 0, 2, 5
"""How a field is written."""


def write_pieces(
    folder: Path, vocabulary: Sequence[tuple[str, float]], *, unknown: int, special: Collection[int]
) -> None:
    """Write the file of a tokenizer into a folder. Raises OSError.

    Args:
        folder: the folder, which exists.
        vocabulary: the pieces with their scores (log-probabilities), in the order of their ids.
        unknown: the id of the piece for what has none.
        special: the ids of further pieces that no text has.
    """
    from sentencepiece import SentencePieceNormalizer

    rules = SentencePieceNormalizer(
        rule_name=_NORMALISATION,
        add_dummy_prefix=True,
        escape_whitespaces=True,
        remove_extra_whitespaces=True,
    ).serialized_model_proto()
    pieces = (
        _field(_PIECES, _piece(text, score, _UNKNOWN if id == unknown else _CONTROL if id in special else 0))
        for id, (text, score) in enumerate(vocabulary)
    )
    trainer = _field(_TRAINER, _tag(_UNKNOWN_ID, _VARINT) + _varint(unknown))
    (folder / FILE_NAME).write_bytes(b"".join((rules, trainer, *pieces)))


class SentencePieces:
    """The tokenizer whose file :func:`write_pieces` wrote into a folder.

    Raises RuntimeError or OSError if the file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor = SentencePieceProcessor(model_proto=(folder / FILE_NAME).read_bytes())
        if not self._processor.get_piece_size():
            raise RuntimeError(f"{folder / FILE_NAME} has no pieces")

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of the pieces of each text, without special ones."""
        written = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        found: list[list[int]] = self._processor.encode(written)
        return found


def _piece(text: str, score: float, kind: int) -> bytes:
    """The message of a piece; one of no special kind says none."""
    written = _field(_TEXT, text.encode("utf-8")) + _tag(_SCORE, _FLOAT) + struct.pack("<f", score)
    return written + (_tag(_KIND, _VARINT) + _varint(kind) if kind else b"")


def _field(number: int, content: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(content)) + content


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first."""
    return bytes(_groups(number))


def _groups(number: int) -> Iterator[int]:
    while number > 0x7F:
        yield number & 0x7F | 0x80
        number >>= 7
    yield number
