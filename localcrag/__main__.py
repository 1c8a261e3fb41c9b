"""``python -m localcrag``."""

if __name__ == "__main__":
    try:
        from localcrag.cli.main import main
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    raise SystemExit(main())
