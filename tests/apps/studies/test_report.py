"""The page of the studies: whole in itself, with every text escaped and every table linked."""

import re
from pathlib import Path

from bruit.apps.findings import Findings
from bruit.apps.studies import report
from bruit.apps.studies.documents import DOCUMENTS
from bruit.apps.studies.registry import STUDIES

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f00010501012718e366"
    "0000000049454e44ae426082"
)


def test_a_study_stands_with_what_its_document_says_and_what_was_found(tmp_path: Path) -> None:
    figure, table = tmp_path / "deciles" / "cut.png", tmp_path / "deciles" / "deciles.csv"
    figure.parent.mkdir()
    figure.write_bytes(PIXEL)
    table.write_text("a,b\n1,2\n")
    findings = Findings("Within <b>two</b> ranks.", (figure, table), {"error": 0.123456})
    told = report.studies_page({"deciles": findings}, folder=tmp_path, size="small")
    assert DOCUMENTS["deciles"].asks.split(";")[0] in told
    assert "Within &lt;b&gt;two&lt;/b&gt; ranks." in told
    assert "0.1235" in told
    assert re.findall(r'href="([^#"]+)"', told) == ["deciles/deciles.csv"]
    assert re.findall(r'src="(data:image/png;base64,)', told) == ["data:image/png;base64,"]
    assert "http" not in told


def test_every_document_s_study_exists() -> None:
    assert set(DOCUMENTS) - set(STUDIES) == set()
