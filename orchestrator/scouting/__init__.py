"""The scout's parts: understanding a question, planning tool calls, reading their results, writing the answer."""
