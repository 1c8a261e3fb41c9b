"""Knowledge bases in LanceDB folders. The package itself imports nothing; import its modules."""
