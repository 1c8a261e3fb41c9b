"""The form of a structured answer: JSON Schemas and Python types as a tree of fields that can be filled.

:mod:`.python_types` turns a Python type into a JSON Schema (by Outlines), :mod:`.schema_reading` a JSON
Schema into an :class:`~.output_shape.OutputSchema`, and refuses what cannot be filled before a model is
loaded. A schema travels as text.
"""
