"""Calibration: the scores of a judge are mapped to calibrated probabilities, with thresholds on them.

:mod:`scale` holds the Platt scale and the logistic fusion. :mod:`fit` fits scales, fusions and thresholds to
labelled grades, and :mod:`band` fits the band of the cascade. :mod:`calibration_file` stores the fitted
numbers with the fingerprints of the models they were fitted for. The product and the training of its models
use the same code. numpy and scikit-learn are imported inside the functions that need them.
"""
