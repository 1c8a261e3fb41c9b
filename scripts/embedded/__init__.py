"""Make, measure and export the two GGUF models that travel with localcrag.

`data` reads question/passage sets, `pairs` turns them into training groups, `evaluator` and
`language_model` train, `export` writes GGUF, `runtime` scores through llama.cpp, `evaluate` measures.
"""
