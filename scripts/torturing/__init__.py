"""Campaigns that break localcrag on purpose, and check what has to hold.

``campaign.py`` has the protocol that each campaign implements, its time budget and its outcome; ``driver.py``
shares the time out and prints the table. Every other module is a campaign, or what several of them need:
``forked.py`` (commands in forked processes), ``real_commands.py`` (commands as users start them),
``small_documents.py`` and ``knowledge_state.py`` (what a knowledge base must hold before and after a
command), ``document_strategies.py`` (documents that are made to harm).
"""
