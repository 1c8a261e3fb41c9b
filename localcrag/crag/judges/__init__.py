"""Who says whether a passage answers: graders, and the scores that they take from what a passage is.

:mod:`.graders` asks the evaluator or the language model (:mod:`.yes_no_choices`); :mod:`.passage_scores` adds
what is plain without either: the entry of a manual, the mail or the row that a question names.
"""
