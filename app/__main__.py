"""`python -m regioncount_app` is `regioncount app`."""

import sys

from regioncount.cli import main

if __name__ == "__main__":
    sys.exit(main(["app", *sys.argv[1:]]))
