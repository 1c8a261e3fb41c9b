"""Questions over all rows of a table, answered by code: recognised, matched with a table, computed."""
