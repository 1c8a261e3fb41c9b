"""Bundles: one archive that carries everything into a room without a network."""
