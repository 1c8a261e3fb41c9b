"""``python -m localcrag``."""

from localcrag.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
