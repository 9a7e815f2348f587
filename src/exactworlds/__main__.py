"""`python -m exactworlds` is the command line."""

from exactworlds.cli import main

if __name__ == "__main__":
    main()
