"""Rows of tables and lists against a question: which cells it names, and which of many rows it is about."""
