"""The warm process: models, indexes and constraints stay loaded between commands.

::

    localcrag search ──► client.py ──► socket (endpoint.py) ──► server.py ──► worker.py ──► KnowledgeBase
                            ▲               protocol.py             │
                            └──── the loop's events, one a line ◄───┘

A command sends its question together with what it was started with
(:class:`protocol.StartConditions`); a server that was started with something else begins again, as a
fresh process, before it answers. If there is no server, or if it fails, the command does the work in
its own process.

The modules that a command imports (client, endpoint, protocol) import none of the libraries that do
the work: not having to is what they are for.
"""
