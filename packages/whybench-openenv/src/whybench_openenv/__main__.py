"""Run the server with `python -m whybench_openenv`."""

from whybench_openenv.server import main

if __name__ == "__main__":
    main()
