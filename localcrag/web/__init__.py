"""The web: search through the user's own SearXNG, page fetches, and the ledger of what left the machine."""
