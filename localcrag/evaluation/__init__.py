"""Measuring localcrag on a user's own questions, and fitting its numbers to them.

Everything is read from the events of ``KnowledgeBase.stream()``: what is measured is what is used::

    questions → observe (events → Observation) → measures → statistics (bootstrap) → table, JSON, plots
                                               ↘ labelled grades → fitting → calibration
"""
