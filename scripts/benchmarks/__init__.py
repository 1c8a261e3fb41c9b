"""What ``./scripts/bench`` measures: each figure against a floor taken in the same run.

A part is a module with one function, ``measure(room) -> Report``. Times are of one machine and one
moment, so they are given as ratios, or beside what they are to be held against; token counts are
exact, and the same everywhere.
"""
