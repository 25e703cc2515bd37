"""Where OpenEnv's tools look for a server; ours is `whybench_openenv.server`."""

from whybench_openenv.server import app_from_environment
from whybench_openenv.server import main as serve

app = app_from_environment()


def main() -> None:
    """Serve until interrupted."""
    serve()


if __name__ == "__main__":
    main()
