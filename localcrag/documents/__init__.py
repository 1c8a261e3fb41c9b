"""Finding documents, reading their text, and splitting it into passages.

::

    targets ─► discover ─► LocalFile | StdinFile | UrlFile ─► read ─► Document ─► split ─► Passage…
               discovery.py sources.py                        readers/           splitting.py

``LocalCorpus.read_all`` reads many sources: prefetch.py holds the queue, process_pool.py starts and
supervises the processes that read, and reader_process.py is the program that runs in them.

:class:`LocalCorpus` implements :class:`~localcrag.protocols.Corpus`; :func:`passages_of` splits any
document, a web page too. Importing this package is cheap: each reader imports the library of its format
when the first such file is read.
"""

from localcrag.documents.corpus import LocalCorpus
from localcrag.documents.sources import LocalFile, StdinFile, UrlFile
from localcrag.documents.splitting import passages_of

__all__ = ["LocalCorpus", "LocalFile", "StdinFile", "UrlFile", "passages_of"]
