"""`python -m whybench_openenv` serves."""

from whybench_openenv.server import main

if __name__ == "__main__":
    main()
