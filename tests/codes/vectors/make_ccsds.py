"""Writes ccsds.json: digests of the turbo codes of spacecraft by two programs of others (gcc).

python make_ccsds.py …/CML/source/include/interleaver.h …/deepspace-turbo

The first, the Coded Modulation Library, gives the order in which the second register reads the message; the second, a
simulator, gives connections, words and puncturing, over that order. Messages are those of `message`.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SIZES = (1784, 3568, 7136, 8920)
RATES = ("1/2", "1/3", "1/4", "1/6")  # in the order of the simulator
HEAD = """
#include <stdio.h>
#include <stdlib.h>
"""
ORDER = """
int main(int count, char **given) {
  int size = atoi(given[1]), *order = malloc(size * sizeof(int));
  CreateCcsdsInterleaver(size, order);
  for (int i = 0; i < size; i++) printf("%d ", order[i]);
  return 0;
}
"""
WORD = """
int main(int count, char **given) {
  int size = atoi(given[1]), upper = atoi(given[2]), kept = atoi(given[3]), value;
  int *order = malloc(size * sizeof(int)), *packet = malloc(size * sizeof(int));
  for (int i = 0; i < size; i++) scanf("%d", order + i);
  for (int i = 0; i < size; i++) scanf("%d", packet + i);
  t_convcode *first = convcode_initialize(given + 5, given[4], upper);
  t_convcode *second = convcode_initialize(given + 5 + upper, given[4], count - 5 - upper);
  t_turbocode *code = turbo_initialize(first, second, order, size);
  int *word = turbo_encode(packet, code);
  for (int i = 0; i < code->encoded_length; i++) if (!kept || puncturing(i)) printf("%d", word[i]);
  return 0;
}
"""


def message(size: int) -> list[int]:
    """Bits of the square of 3 · 2^i modulo a prime, so that any program has the same ones."""
    return [(3 * pow(2, i, 65_521)) ** 2 % 65_521 & 1 for i in range(size)]


def digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()


def part(text: str, begin: str, end: str) -> str:
    return text[text.index(begin) : text.index(end, text.index(begin))]


def connections(text: str) -> list[tuple[list[str], list[str]]]:
    """The connections of both registers for each rate of the simulator."""
    found: list[tuple[list[str], list[str]]] = []
    for side, place, vector in re.findall(r'forward_(upper|lower)\[(\d)\] = "([01]+)"', text):
        if (side, place) == ("upper", "0"):
            found.append(([], []))
        found[-1][side == "lower"].append(vector)
    return found


def built(folder: Path, name: str, source: str, *more: str) -> str:
    (folder / f"{name}.c").write_text(HEAD + source)
    subprocess.run(["gcc", "-w", folder / f"{name}.c", *more, "-o", folder / name, "-lm"], check=True)
    return str(folder / name)


def made(order_source: str, simulator: Path, folder: Path) -> list[dict[str, object]]:
    main = (simulator / "main.c").read_text()
    libraries = [str(simulator / f"{name}.c") for name in ("libconvcodes", "libturbocodes", "utilities")]
    kept, backward = part(main, "int puncturing", "// thread"), re.search(r'backward = "([01]+)"', main)
    assert backward is not None
    own = f'#include "libturbocodes.h"\n{kept}{WORD}'
    order = built(folder, "order", part(order_source, "void CreateCcsdsInterleaver", "/* Function CreateUmts") + ORDER)
    word = built(folder, "word", own, *libraries, f"-I{simulator}")
    vectors: list[dict[str, object]] = []
    for k in SIZES:
        said = subprocess.run([order, str(k)], capture_output=True, text=True, check=True).stdout
        given = said + " ".join(map(str, message(k)))
        words = {}
        for rate, (upper, lower) in zip(RATES, connections(main), strict=True):
            asked = [word, str(k), str(len(upper)), str(int(rate == "1/2")), backward[1], *upper, *lower]
            words[rate] = digest(subprocess.run(asked, input=given, capture_output=True, text=True, check=True).stdout)
        vectors.append({"k": k, "order": digest(said), "words": words})
    return vectors


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        vectors = made(Path(sys.argv[1]).read_text(), Path(sys.argv[2]), Path(temporary))
    Path(__file__).with_name("ccsds.json").write_text(json.dumps(vectors, indent=1) + "\n")
