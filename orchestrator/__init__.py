"""orch: a parent agent that delegates to sub-agents and checks what they report."""

__version__ = "0.1.0"
