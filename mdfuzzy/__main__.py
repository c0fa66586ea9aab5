"""Run the command line as ``python -m mdfuzzy``, also where the command is not on the path."""

import sys

from mdfuzzy.cli import main

if __name__ == "__main__":
    sys.exit(main())
