"""The warm process: models, indexes and constraints stay loaded between commands.

::

    localcrag search ──► client.py ──► socket (place.py) ──► server.py ──► work.py ──► localcrag.knowledge_base
                            ▲         messages.py, lines.py      │
                            └── the loop's events, one a line ◄──┘

A command sends its question together with what it was started with (:class:`messages.StartConditions`); a
server that was started with something else begins again, as a fresh process, before it answers.
Where there is no server, or where it fails, the command does the work in its own process.

The modules that a command imports (client, place, messages, lines) import none of the libraries that do
the work: not having to is what they are for.
"""
