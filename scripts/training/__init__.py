"""Train, export and measure the GGUF models that travel with localcrag: the command is `scripts/train`.

A stage of training is one module of `stages` with one function, `run(job)`. `job` says what is trained on
what and where results go, `data` and `headings` read question/passage sets, `pairs` and `task_sampler` draw
what a step learns from, `training_loop` trains until a wall-clock budget is spent and resumes from
`checkpoint`. `gguf_files` writes models, `measure` measures them, `bars` holds them against what is wanted.

Calibration, thresholds, rank fusion, reranking, stop words, prompts, metrics and the llama.cpp runtime are
those of the product, imported from `localcrag`; `tests/test_training.py` looks for copies.
"""
