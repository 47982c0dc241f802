"""How providers say that the conversation does not fit into the model's window."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.output_limits import is_output_error

_CODES: Final = (
    "context_length_exceeded",  # OpenAI, Azure, Groq, Together, Fireworks, DeepInfra, LM Studio, xAI
    "context_window_exceeded",  # Anthropic's stop reason, Cohere
    "exceed_context_size_error",  # llama.cpp
    "request_too_large",  # Anthropic, by size in bytes
    "context_overflow",
    "string_above_max_length",  # OpenAI, one message by its characters; told from short fields by `_NOT`
    "max_prompt_tokens_exceeded",
    "model_max_prompt_tokens_exceeded",  # GitHub
    "tokens_limit_reached",  # GitHub Models
    "prompt_too_long",
)
_WORDINGS: Final = (
    # OpenAI, Azure, DeepSeek, OpenRouter, vLLM, SGLang, Mistral, Cohere and many that repeat them
    r"(?:maximum|max|available) (?:context|model|sequence|input|prompt) (?:length|size|window|limit)",
    r"max(?:imum)?[_-](?:context|model|seq|input)[_-](?:len|length|tokens)",
    r"exceed\w* (?:the |your |its |this |model'?s? |maximum |available )*context",
    r"context[_ ](?:window|length|size|limit)\b.{0,40}\b(?:exceed|limit|too (?:long|large)|full|is only|overflow)",
    r"context window is [\d,.]+k? tokens",
    r"input (?:or output )?tokens? exceed",
    r"(?:reduce|shorten) (?:the length of |your )?(?:the |your )?(?:messages|prompt|input)\b",  # Groq, Cerebras
    r"current length is \d+ while limit is",  # Cerebras
    r"(?:greater|longer|larger|more) than the (?:model'?s )?(?:maximum )?context",  # LM Studio, Together, Ollama
    # Anthropic, Bedrock, Vertex
    r"prompt (?:is )?too (?:long|large)|prompt: length: \d+",
    r"input (?:is )?too long\b|input text length should not exceed",
    r"expected max_?length: ?\d+",
    r"too many (?:input |prompt )?tokens\b(?!.{0,20}per)",
    # Google
    r"input token count|prompt token count",
    r"exceeds? (?:the )?(?:maximum|max) (?:number of |allowed |input |prompt )*tokens",
    r"request payload size exceeds",
    # xAI, Mistral, Moonshot, MiniMax, Zhipu, Qwen, GitHub, TGI, Cloudflare, Mantle
    r"maximum prompt length|prompt exceeds? (?:the )?(?:length|max)",
    r"too large for model with|prompt has too many tokens",
    r"exceeded model token limit|token limit exceeded",
    r"exceeds? (?:the )?(?:model'?s )?(?:token limit|limit of \d+ tokens)",
    r"tokens in request more than max tokens allowed|request body too large.{0,60}max size: \d+ tokens",
    r"range of input length should be|length limit exceeded",
    r"`inputs` tokens \+ `max_new_tokens` must be",
    r"prompt tokens? \(\d+\) exceeds? (?:customer )?model maximum",
    r"the estimated number of input and maximum output tokens .{0,40}exceed",
    # proxies and servers on the way, by size in bytes
    r"request entity too large|payload too large|request exceeds the maximum (?:size|allowed)",
    r"输入.{0,12}(?:过长|超)|上下文.{0,10}(?:过长|超)|超出.{0,10}(?:上下文|最大长度)",
)
_CONTEXT: Final = re.compile("|".join((*_CODES, *_WORDINGS)), re.IGNORECASE)
_RATE: Final = re.compile(
    r"rate.?limit|too many requests|(?:tokens?|requests?) per (?:min|day|hour|second)|\b[tr]p[md]\b|quota",
    re.IGNORECASE,
)
_NEVER_FITS: Final = re.compile(
    r"request too large for|(?:input or output tokens|message size) (?:must be reduced|and try again)", re.IGNORECASE
)
"""One request alone is above a limit per minute (OpenAI, Groq): waiting does not help, a shorter one does."""
_NOT: Final = re.compile(
    r"invalid '(?:user|metadata|tools?|prompt_cache_key|safety_identifier|messages\[\d+\]\.(?:name|tool_call))"
    r"|context window (?:is )?too small",
    re.IGNORECASE,
)
"""Other things that are too long, in the same words."""


def is_context_error(status: int | None, said: str) -> bool:
    """Whether a failure says that the conversation is too long: `said` is the provider's code and words."""
    if _NEVER_FITS.search(said) and _RATE.search(said):
        return True
    if status == 429 or _RATE.search(said) or _NOT.search(said) or is_output_error(said):
        return False
    return bool(_CONTEXT.search(said))
