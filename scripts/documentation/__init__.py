"""The generated blocks of the manual, and what is checked of README and manual; see ``scripts/docs.py``."""
