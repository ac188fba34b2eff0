"""Renders the formulas of the site while MkDocs builds: a fence `math` of LaTeX becomes MathML, which browsers draw."""

from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig


def render(source: str, *_: Any, **__: Any) -> str:
    """One formula on a line of its own."""
    return f'<div class="formula">{convert(source.strip(), display="block")}</div>'


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Hands the fence to the extension that reads code blocks."""
    fence = {"name": "math", "class": "formula", "format": render}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [fence]}
    return config
