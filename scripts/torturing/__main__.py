"""``python -m torturing``."""

from torturing.driver import main

if __name__ == "__main__":
    raise SystemExit(main())
