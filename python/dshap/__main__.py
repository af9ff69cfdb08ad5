"""`python -m dshap`: the command line."""

import sys

from dshap._command import main

if __name__ == "__main__":
    sys.exit(main())
