"""The corrective loop: grade, decide, correct, refine, generate, verify.

Everything here knows the protocols only, never an adapter.
"""
