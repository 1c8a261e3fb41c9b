"""Knowledge bases around others: each is read like one and changes one thing of what those within find."""
