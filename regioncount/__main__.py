"""`python -m regioncount`: the command line."""

import sys

from regioncount.cli import main

if __name__ == "__main__":
    sys.exit(main())
