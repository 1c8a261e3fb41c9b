"""The command line: a thin face on the library. Answers go to stdout, everything else to stderr."""
