"""A chat model on a server of the own network, in place of one in this process.

::

    Prompt ─► chat_messages.py ─► served_model.py ─► server_connection.py ─► the server
                                    │      ▲              (bounds, ledger, key, refusals)
              constraint_dialects.py,      chat_replies.py (what came), pattern_walk.py (does it hold?),
              gbnf.py (what is allowed)    choice_scores.py (probabilities of options)

Before the first question server_probe.py asks the server for something that no model would say, and refuses a
server that does not keep to it.
"""
