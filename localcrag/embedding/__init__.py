"""Texts to vectors. Import its modules; this package loads nothing."""
