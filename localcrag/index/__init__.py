"""The index: embeddings, and knowledge bases in LanceDB. Import its modules; this package loads nothing."""
