"""``python -m lazycore`` is the command ``lazycore``."""

from lazycore.cli.main import main

if __name__ == "__main__":
    main()
