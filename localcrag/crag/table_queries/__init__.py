"""Questions over one table, which the language model reads as queries that name nothing else than it has."""
