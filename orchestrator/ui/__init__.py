"""The terminal: consumes events, draws, answers approvals."""
