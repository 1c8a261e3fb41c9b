"""The web: search with the user's own SearXNG, fetching pages, and the ledger of what left the machine."""
