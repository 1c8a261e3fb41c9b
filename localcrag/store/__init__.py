"""Knowledge bases in LanceDB folders. Import its modules; this package loads nothing."""
