"""Calibration: from a judge's own numbers to probabilities that mean what they say, and thresholds on them.

:mod:`scale` holds what is fitted (a Platt scale, a logistic fusion), :mod:`fit` fits scales, fusions and
thresholds to labelled grades, :mod:`band` fits the cascade's band, and :mod:`calibration_file` keeps what was
fitted under the fingerprints of the models it was fitted for. The product and the training of its models use
the same code. numpy and scikit-learn are imported inside the functions that need them.
"""
