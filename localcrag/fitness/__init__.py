"""Fitness: what `localcrag models check` measured of a chat model, and what follows from it.

:mod:`fitness_result` holds the figures, :mod:`fitness_results_folder` the folders they are kept in by the
fingerprints of the model files, :mod:`fitness_verdicts` the figures in words, and :mod:`model_defaults` the
defaults that follow: grader, mode, corrections, grounding. The measurement itself is
:mod:`localcrag.evaluation.fitness_check`.
"""
