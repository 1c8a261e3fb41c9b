"""Documents in, passages out: finding files, reading their text, cutting it.

::

    targets ─► discover ─► LocalFile | StdinFile | UrlFile ─► read ─► Document ─► split ─► Passage…
               discover.py  sources.py                        readers/           split.py

Many sources at once go through read_all: ahead.py is the queue, apart.py the processes that read
(worker.py) and how they are watched.

:class:`LocalCorpus` is the :class:`~localcrag.protocols.Corpus` of the product;
:func:`passages_of` alone cuts any document, a web page too. Importing this package is cheap: each
format's library is imported by its reader, when the first such file is read.
"""

from localcrag.corpus.local import LocalCorpus
from localcrag.corpus.sources import LocalFile, StdinFile, UrlFile
from localcrag.corpus.split import passages_of

__all__ = ["LocalCorpus", "LocalFile", "StdinFile", "UrlFile", "passages_of"]
