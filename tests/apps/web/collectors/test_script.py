"""The participant's script: the specification's shares byte for byte, and reports that the collectors can count."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from aggregation import vdaf
from aggregation.polls import KEY

from bruit.aggregation import (
    Circuit,
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    Party,
    SumCircuit,
    SumVecCircuit,
    Task,
    key_hash,
)
from bruit.aggregation.collecting import Collector, State, converse, reply

STATIC = Path(__file__).parents[4] / "src/bruit/apps/web/collectors/static"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node runs the script outside a browser; it is not installed")

VECTORS = """
import { prio3 } from "./prio3.js";
import { readFileSync } from "fs";
const hex = text => Uint8Array.from(text.match(/../g) ?? [], pair => parseInt(pair, 16));
const out = JSON.parse(readFileSync(0)).map(({ circuit, context, shares, reports }) => {
	const scheme = prio3(circuit, hex(context), shares);
	const split = reports.map(({ measurement, nonce, rand }) => scheme.shard(measurement, hex(nonce), hex(rand)));
	return split.map(parts => parts.map(part => Buffer.from(part).toString("hex")));
});
console.log(JSON.stringify(out));
"""
REPORTS = """
import { makeReport, readTask } from "./report.js";
import { readFileSync } from "fs";
const out = [];
for (const { text, name, answers } of JSON.parse(readFileSync(0))) {
	try {
		const task = await readTask(text, name), reports = [];
		for (const answer of answers) reports.push(Buffer.from(await makeReport(task, answer)).toString("hex"));
		out.push(reports);
	} catch (error) {
		out.push(error.message);
	}
}
console.log(JSON.stringify(out));
"""
COUNTED: list[tuple[Circuit, list[Any], list[int]]] = [
    (CountCircuit(), [1] * 7 + [0] * 4, [7]),
    (SumCircuit(largest=100), [100] * 10 + [65, 3], [1068]),
    (HistogramCircuit(length=10, chunk=4), [*range(10), 3, 9], [1, 1, 1, 2, 1, 1, 1, 1, 1, 2]),
    (MultihotCountVecCircuit(length=3, chunk=2, most=2), [[1, 1, 0]] * 6 + [[0, 0, 0]] * 5, [6, 6, 0]),
    (SumVecCircuit(length=2, chunk=3, largest=9), [[9, 0], [4, 5]] * 5, [65, 25]),
]
REFUSED: list[tuple[Circuit, Any]] = [
    (CountCircuit(), 2),
    (SumCircuit(largest=5), 6),
    (SumCircuit(largest=5), 1.5),
    (HistogramCircuit(length=3, chunk=2), 3),
    (HistogramCircuit(length=3, chunk=2), [1, 2]),
    (MultihotCountVecCircuit(length=3, chunk=2, most=1), [1, 1, 0]),
    (SumVecCircuit(length=2, chunk=1, largest=3), [1]),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script's files as a package of modules, with the two programs of these tests beside them."""
    made = tmp_path_factory.mktemp("script")
    for file in STATIC.glob("*.js"):
        shutil.copy(file, made / file.name)
    (made / "package.json").write_text('{"type": "module"}')
    (made / "vectors.js").write_text(VECTORS)
    (made / "reports.js").write_text(REPORTS)
    return made


def run(folder: Path, program: str, given: list[dict[str, Any]]) -> list[Any]:
    assert NODE is not None
    command = [NODE, str(folder / program)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def make_task(circuit: Circuit, key: bytes = bytes(32)) -> Task:
    return Task(
        "Où va-t-on, « là » ?",
        circuit,
        labels=tuple(f"nombre {i}" for i in range(circuit.outputs)),
        epsilon=1000,
        least_batch=10,
        parties=(Party("Ada", "http://localhost"), Party("Bea", key=key.hex())),
        key_hash=key_hash(KEY),
    )


def asked(task: Task, answers: list[Any]) -> dict[str, Any]:
    return {"text": task.text, "name": task.name, "answers": answers}


@vdaf.NEEDED
def test_shares_are_those_of_the_specification(folder: Path) -> None:
    names = [name for name in vdaf.WHOLE if "Multiproof" not in name]
    vectors = [vdaf.load(name) for name in names]
    schemes = [vdaf.scheme_of(name, vector) for name, vector in zip(names, vectors, strict=True)]
    given = [
        {
            "circuit": one.circuit.to_json(),
            "context": one.context.hex(),
            "shares": one.shares,
            "reports": each["reports"],
        }
        for one, each in zip(schemes, vectors, strict=True)
    ]
    found = run(folder, "vectors.js", given)
    for name, vector, shares in zip(names, vectors, found, strict=True):
        assert shares == [[each["public_share"], *each["input_shares"]] for each in vector["reports"]], name
    assert sum(map(len, found)) == 42


def test_two_collectors_count_what_the_script_sealed(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="split polls need bruit[collectors]")
    from bruit.aggregation.sealing import SealingKey

    key = SealingKey()
    tasks = [make_task(circuit, key.public) for circuit, _, _ in COUNTED]
    sent = run(folder, "reports.js", [asked(task, case[1]) for task, case in zip(tasks, COUNTED, strict=True)])
    for task, reports, (_, _, sums) in zip(tasks, sent, COUNTED, strict=True):
        first = Collector.create(f"sqlite:///{tmp_path}/a.db", task, role=0, key=KEY)
        second = Collector.create(f"sqlite:///{tmp_path}/b.db", task, role=1, key=KEY)
        rows = [first.read_report(bytes.fromhex(report)) for report in reports]
        first.receive(rows)
        second.receive([row._replace(share=key.open(task, row), sealed=b"") for row in rows])
        first.close()
        second.close()
        assert converse(second, lambda step, message, to=first: reply(to, step, message)) is State.PUBLISHED  # type: ignore[misc]
        assert json.loads(first.release)["value"] == sums


def test_the_script_refuses_a_false_task_and_false_answers(folder: Path) -> None:
    task = make_task(HistogramCircuit(length=3, chunk=2))
    other = {"text": task.text.replace('"epsilon":"1000"', '"epsilon":"1001"'), "name": task.name, "answers": []}
    # A collector that names a smaller sensitivity than an answer has would add less noise than it says.
    quiet = task.text.replace('"sensitivity":2', '"sensitivity":1')
    less = {"text": quiet, "name": hashlib.sha256(quiet.encode()).hexdigest(), "answers": []}
    wrong = [asked(make_task(circuit), [answer]) for circuit, answer in REFUSED]
    honest, another, silent, *refused = run(folder, "reports.js", [asked(task, []), other, less, *wrong])
    assert honest == []
    assert (another, silent) == ("other_task", "false_noise")  # by these names the page finds its words
    assert refused == ["this is not one of the answers"] * len(REFUSED)
