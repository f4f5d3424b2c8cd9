"""`python -m sapwood` is the `sapwood` command."""

import sys

from sapwood._command import main

sys.exit(main())
