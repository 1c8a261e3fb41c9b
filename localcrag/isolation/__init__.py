"""Isolation: work on data of strangers runs in processes of its own, with limits of time and memory.

``isolated_process.py`` starts such a process and gives it jobs, ``isolated_program.py`` is what runs in it,
and ``message_frames.py`` are the messages between the two. Parsers of documents and the extraction of web
pages work so: one that crashes, never ends or wants all memory costs its own job, and nothing else.
"""
