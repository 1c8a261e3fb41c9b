"""Knowledge bases on object storage, ``s3://bucket/prefix``: written by one, read by many.

A knowledge base is a folder (:mod:`localcrag.store.kb_folders`), most of whose files are written once. On
object storage each file is an object, and one object more, the *head*, lists the files that the knowledge
base consists of, each with its size and its sha256::

    PREFIX/localcrag.json       the head, replaced only on condition that it is still the one that was read
          /writer.lease         held by the one process that writes, and renewed by it
          /lance/…              the files of LanceDB that are written once, under their own names
          /contents/SHA256      all other files, by their content, so that none is ever changed

So a commit of all tables is one conditional put of one small object: a reader finds the files of one commit
or of another one, never of both. It fetches what it does not have into a local cache, compares every byte
with the sha256, and opens the folder there as any other knowledge base. A writer works in a copy of that
folder, puts the new files, and then the head. What fails before that changes nothing for anybody.

Requests go through :mod:`localcrag.web.http`, whose sockets the offline guard sees, follow no redirect, and
use no proxy. The packages of clients for object storage open sockets in native code, and follow redirects.
"""
