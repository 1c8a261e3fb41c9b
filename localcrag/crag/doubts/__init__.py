"""Whether evidence is sure: how probable it must be (:mod:`.sureness`), and what speaks against it
(:mod:`.reasons`)."""
