"""Structured answers: the fields of a schema are filled with values that stand in the evidence."""
