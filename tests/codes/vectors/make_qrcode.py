"""Writes qrcode.json: symbols of qrcode 8.2, a row of modules a hexadecimal number (pip install qrcode==8.2)."""

import json
from pathlib import Path
from typing import Any

import qrcode
from qrcode.util import MODE_8BIT_BYTE, QRData

LEVELS = {
    "L": qrcode.ERROR_CORRECT_L,
    "M": qrcode.ERROR_CORRECT_M,
    "Q": qrcode.ERROR_CORRECT_Q,
    "H": qrcode.ERROR_CORRECT_H,
}
TEXTS = ("bruit", "noise is a channel", "a longer text of 32 plain bytes.")


def symbol(text: str, level: str, mask: int) -> dict[str, Any]:
    made = qrcode.QRCode(None, LEVELS[level], border=0, mask_pattern=mask)
    made.add_data(QRData(text.encode(), mode=MODE_8BIT_BYTE), optimize=0)
    made.make(fit=True)
    rows = [f"{int(''.join('1' if dark else '0' for dark in row), 2):x}" for row in made.get_matrix()]
    return {"text": text, "level": level, "mask": mask, "rows": rows}


if __name__ == "__main__":
    vectors = [
        symbol(text, level, (at + place) % 8) for at, text in enumerate(TEXTS) for place, level in enumerate(LEVELS)
    ]
    Path(__file__).with_name("qrcode.json").write_text(json.dumps(vectors, indent=1) + "\n")
