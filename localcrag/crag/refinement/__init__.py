"""Knowledge refinement: passages are cut into strips, and the strips that help are put together again.

It is section 4.4 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884), in its three steps:

=========  ===========================================================================================
decompose  :mod:`.knowledge_strips` (where they are cut: :mod:`.strip_spans`, :mod:`.setting_spans`),
           :mod:`.strip_windows`
filter     :mod:`.strip_filter`; of the rows of a table, :mod:`.row_selection`
recompose  :mod:`.recomposition`
=========  ===========================================================================================

A strip is judged in the words that stand above it (:mod:`.strip_context`), by what kind of text it is
(:mod:`.strip_kinds`).
"""
