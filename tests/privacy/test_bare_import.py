import subprocess
import sys

PROGRAM = """
import sys
for name in ("numba", "polars", "sqlalchemy", "rich"):
    sys.modules[name] = None
import bruit.privacy as privacy
relation = privacy.ADD_OR_REMOVE_ONE
found = privacy.plan(size=600, batch_size=60, epochs=2, delta=1e-4, target_epsilon=2, neighbours=relation)
print(found.epsilon)
"""


def test_a_bare_machine_can_plan_and_calibrate() -> None:
    """GPU machines often have numpy, scipy and torch alone."""
    told = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert 1.98 <= float(told.stdout) <= 2
