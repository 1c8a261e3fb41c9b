"""What a question says: its terms, its dates and codes, how much it asks for, what a follow-up is about.

Nothing here has seen a passage yet. :mod:`.query_terms` is what most of the loop reads of a question.
"""
