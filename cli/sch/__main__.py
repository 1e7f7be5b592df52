"""`python -m sch` is `sch`."""

import sys

from sch.main import main

if __name__ == "__main__":
    sys.exit(main())
