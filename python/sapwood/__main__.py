"""Makes `python -m sapwood` run the `sapwood` command."""

import sys

from sapwood._command import main

sys.exit(main())
