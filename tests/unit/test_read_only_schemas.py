from __future__ import annotations

import json

from tests.support.read_only_tools import load_tool


def test_the_four_file_tools_cost_little_in_every_request() -> None:
    """They and the role prompt of a child must fit in 8 kB."""
    tools = [load_tool(name) for name in ("read_file", "list_files", "glob", "grep")]
    schemas = [{"name": tool.name, "description": tool.description, **tool.args.model_json_schema()} for tool in tools]
    assert len(json.dumps(schemas, separators=(",", ":"))) < 2700
    assert all(tool.read_only and tool.eager for tool in tools)
