"""Training where nothing but NumPy, SciPy and torch is installed."""

import subprocess
import sys

SCRIPT = """
import sys
from importlib.machinery import PathFinder

ABSENT = {"numba", "llvmlite", "randomgen", "polars", "narwhals", "sqlalchemy", "rich", "rich_click", "click", "pandas",
          "pyarrow", "sklearn", "matplotlib", "duckdb", "psycopg", "statsmodels", "joblib", "dp_accounting"}

class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in ABSENT else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
import torch, bruit
torch.set_num_threads(1)
inputs = torch.randn(512, 4)
ledger = bruit.Ledger("bare", epsilon=1.0, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
run = bruit.deep.train(
    torch.nn.Linear(4, 2), (inputs, (inputs[:, 0] > 0).long()),
    budget=ledger.budget(epsilon=1.0, delta=1e-5), epochs=1, batch_size=128, clip=1.0,
)
assert not ABSENT & {name.partition(".")[0] for name in sys.modules}
print(run.details["generator"], float(run.guarantee.epsilon) <= 1, run.details["steps"])
"""


def test_nothing_but_numpy_scipy_and_torch_is_needed() -> None:
    told = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert told.stderr == ""
    assert told.stdout.strip() == "PCG64 keyed by the operating system True 4"
