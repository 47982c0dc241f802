"""The repositories that the questions are about hold tests of their own; they are not ours to run."""

collect_ignore = ["repos"]
