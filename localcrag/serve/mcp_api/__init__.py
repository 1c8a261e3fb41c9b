"""The door for editors and agents: the Model Context Protocol over standard input and output.

::

    client ──► mcp_server.py ──► mcp_tools.py ──► mcp_calls.py ──► the warm process, or KnowledgeBase
               (the protocol)    (what is offered)  (the work)
                     │                                  │
                     └──► mcp_resources.py              └── mcp_access.py: what may be reached

Only :mod:`.mcp_server` knows the protocol and the SDK (``mcp``). What a client may do is decided in
:mod:`.mcp_access`, and nothing else.
"""
