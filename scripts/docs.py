"""Renders docs/*.md and README.md into site/, after checking that every relative link leads somewhere."""

import re
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>body{{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1.05rem/1.5 serif}}pre{{overflow-x:auto}}</style>
<body>{body}</body></html>
"""


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", _without_code(page.read_text()))
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    return [target for target in local if not (page.parent / target).exists()]


def _without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def render(page: Path, site: Path) -> None:
    """Writes one page as HTML; links between pages follow."""
    body = MarkdownIt("commonmark").enable("table").render(page.read_text())
    body = re.sub(r'href="(?:docs/)?([^":]+)\.md', r'href="\1.html', body)
    name = "index" if page.name == "README.md" else page.stem
    (site / f"{name}.html").write_text(PAGE.format(title=f"bruit: {page.stem}", body=body))


def main() -> int:
    """Checks, then renders; the exit status is the number of broken links."""
    broken = [f"{page.relative_to(ROOT)}: {target}" for page in pages() for target in broken_links(page)]
    for line in broken:
        print(f"broken link: {line}")
    site = ROOT / "site"
    site.mkdir(exist_ok=True)
    for page in pages():
        render(page, site)
    print(f"{len(pages())} pages in {site.relative_to(ROOT)}/")
    return len(broken)


if __name__ == "__main__":
    sys.exit(main())
