"""`python -m gradexplain`."""

import sys

from gradexplain.cli import main

if __name__ == "__main__":
    sys.exit(main())
