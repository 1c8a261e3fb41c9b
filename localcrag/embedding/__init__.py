"""Embedding: texts to vectors. The package itself imports nothing; import its modules."""
