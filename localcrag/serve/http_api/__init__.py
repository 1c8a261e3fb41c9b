"""The HTTP door of the warm process: an API under ``/api``, and a page.

::

    browser, curl, programs ──► uvicorn (a thread) ──► application.py ──► own_routes.py ──► Backend
                                                   access.py, admission.py                     │
                                                                                      warm_backend.py
                                                                                               │
                                             the main thread of the warm process ◄── its socket┘

What needs a model goes through the socket of the warm process, as a question of the terminal does, so there
is one code path and one queue, and closing a connection ends its work. The routes know the protocol
:class:`~.backend.Backend` alone. Starlette and uvicorn come with the extra ``localcrag[http]``. Only modules
of this package import them, and only ``localcrag serve --http`` imports these.
"""
