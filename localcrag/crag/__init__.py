"""The corrective loop: grade, decide, correct, refine, generate, verify.

The modules of this package import the protocols, never an adapter.
"""
