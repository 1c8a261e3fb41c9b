"""The warm process: models, indexes and constraints stay loaded between commands.

::

    localcrag search ──► client.py ──► socket (endpoint.py) ──► server.py ──► worker.py ──► KnowledgeBase
                            ▲               protocol.py             │
                            └──── the loop's events, one a line ◄───┘

A command sends its question together with the conditions of its start
(:class:`protocol.StartConditions`). A server that was started under others restarts, as a new process,
before it answers. If there is no server, or if it fails, the command does the work in its own process.

The modules that a command imports (client, endpoint, protocol) import none of the libraries that do
the work, because the warm process exists to save that time.
"""
