"""`python -m exactworlds` is the command line."""

from exactworlds.cli import main

main()
