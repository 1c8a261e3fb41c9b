"""From evidence to an answer: quoted or written or computed, each sentence held against what it cites.

========  =======================================================================
quoted    :mod:`.quotation`, :mod:`.whole_tables`, :mod:`.stored_quotes`, shown as :mod:`.strip_display` says
written   :mod:`.generation` in the form of :mod:`.answer_form`
computed  :mod:`.aggregation`, by code from the rows of a table
checked   :mod:`.citation_check`, :mod:`.citation_narrowing`, :mod:`.grounding`
========  =======================================================================
"""
