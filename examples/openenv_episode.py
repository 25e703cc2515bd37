"""One episode over OpenEnv; needs the distribution `whybench-openenv`.

python examples/openenv_episode.py
"""

from agent import choose
from whybench_openenv.client import WhyBenchAction, WhyBenchEnv
from whybench_openenv.running import running

if __name__ == "__main__":
    with running("--suite", "causallink/core") as address, WhyBenchEnv(address).sync() as env:
        result = env.reset(index=30)
        tools, texts = result.observation.tools, [result.observation.text]
        while not result.done:
            name, args = choose(tools, texts)
            result = env.step(WhyBenchAction(name=name, args=args))
            texts.append(result.observation.text)
        print(f"reward {result.reward}, {result.observation.score}")
