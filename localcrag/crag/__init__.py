"""The corrective loop: grade, decide, correct, refine, generate, verify.

:mod:`.pipeline` runs one question through it; its steps are modules beside it, and what they know is in
sub-packages, each of which imports only those above it:

==========================  ==================================================================
:mod:`.questions`           what a question says
:mod:`.refinement`          passages cut into strips, filtered and put together
:mod:`.table_answers`       questions over all rows of a table
:mod:`.rows`                which row of many a question is about
:mod:`.judges`              who says whether a passage answers
:mod:`.doubts`              whether evidence is sure
:mod:`.answering`           from evidence to an answer, with citations
:mod:`.structured_answers`  the fields of a schema, filled from evidence
:mod:`.wrapped_readers`     knowledge bases around others: joined, compared, with a text beside
==========================  ==================================================================

The modules of this package import the protocols, never an adapter.
"""
