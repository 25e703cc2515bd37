"""An agent over the Model Context Protocol, with the official client.

whybench arena serve --http &
python examples/mcp_client.py http://127.0.0.1:8765/mcp causallink/core 30
"""

import sys

import anyio
from agent import choose
from mcp import Client


async def play(address: str, suite: str, index: int) -> dict:
    """Play one episode and return its score."""
    async with Client(f"{address}?suite={suite}&index={index}") as client:
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
            for tool in (await client.list_tools()).tools
        ]
        texts, done = [(await client.call_tool("episode_brief")).content[0].text], False
        while not done:
            name, args = choose(tools, texts)
            reply = await client.call_tool(name, args)
            texts.append(reply.content[0].text)
            done = reply.structured_content["done"]
        return (await client.call_tool("episode_score")).structured_content


if __name__ == "__main__":
    told = anyio.run(play, sys.argv[1], sys.argv[2], int(sys.argv[3]))
    print(told["score"]["outcome"], told["score"]["values"], told["receipt"], sep="\n")
