"""Documents in, passages out: finding files, reading their text, cutting it.

::

    targets ─► discover ─► LocalFile | StdinFile | UrlFile ─► read ─► Document ─► split ─► Passage…
               discovery.py sources.py                        readers/           splitting.py

Many sources at once go through read_all: prefetch.py is the queue, process_pool.py the processes that
read (reader_process.py) and how they are watched.

:class:`LocalCorpus` is the :class:`~localcrag.protocols.Corpus` of the product;
:func:`passages_of` alone cuts any document, a web page too. Importing this package is cheap: each
format's library is imported by its reader, when the first such file is read.
"""

from localcrag.documents.corpus import LocalCorpus
from localcrag.documents.sources import LocalFile, StdinFile, UrlFile
from localcrag.documents.splitting import passages_of

__all__ = ["LocalCorpus", "LocalFile", "StdinFile", "UrlFile", "passages_of"]
