"""The pages of the explorer: one per tool, its figure as JSON, and its exports."""

from __future__ import annotations

from functools import cache, lru_cache

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, HTTPException, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from bruit.apps.steward.csv_safety import csv_of
from bruit.apps.web.explorer import accuracy, belief, budget
from bruit.apps.web.explorer.figure import Figure, Tool
from bruit.apps.web.explorer.parameters import STEPS, Number, Values, link, read_parameters
from bruit.apps.web.rendering import page
from bruit.errors import BruitError

TOOLS = {tool.name: tool for tool in (budget.TOOL, belief.TOOL, accuracy.TOOL)}
AT_ONCE = 2
"""Figures that are computed at the same time."""
MOST_WAITING = 100
"""Figures that may wait to be computed; whoever asks for more is told to come again."""

router = APIRouter(include_in_schema=False)


@router.get("")
def start() -> Response:
    """Redirects to the first tool."""
    return RedirectResponse("/explorer/budget", 307)


@router.get("/{name}")
async def show(request: Request, name: str) -> Response:
    """The page of a tool with the settings in its address; invalid ones are replaced by defaults, with the reason."""
    tool, refused = _tool(name), ""
    try:
        values = read_parameters(tool.parameters, request.query_params)
        figure = await _figure(name, values)
    except BruitError as error:
        refused, values = str(error), read_parameters(tool.parameters, {})
        figure = await _figure(name, values)
    sliders = {one.name: one.place(values[one.name]) for one in tool.parameters if isinstance(one, Number)}
    return page(
        request,
        "explorer/tool.html",
        tool=tool,
        tools=TOOLS.values(),
        values=values,
        sliders=sliders,
        steps=STEPS,
        figure=figure,
        link=link(values),
        refused=refused,
    )


@router.get("/{name}/figure")
async def figure(request: Request, name: str) -> Response:
    """The figure as JSON; what cannot be drawn is answered by a sentence that the page shows."""
    tool = _tool(name)
    try:
        values = read_parameters(tool.parameters, request.query_params)
        return JSONResponse({**(await _figure(name, values)).to_json(), "link": link(values)})
    except BruitError as error:
        return JSONResponse({"refused": str(error)})


@router.get("/{name}/data.csv")
async def data(request: Request, name: str) -> Response:
    """The points of the figure as a file."""
    found = await _figure(name, read_parameters(_tool(name).parameters, request.query_params))
    return _file(csv_of(found.frame()), f"{name}.csv", "text/csv")


@router.get("/{name}/code.py")
def code(request: Request, name: str) -> Response:
    """A Python program that computes the same numbers as the figure."""
    tool = _tool(name)
    return _file(tool.code(read_parameters(tool.parameters, request.query_params)), f"{name}.py", "text/x-python")


async def _figure(name: str, values: Values) -> Figure:
    """The figure of a view; few are computed at once, so that whoever moves sliders does not stop the other pages."""
    limit: CapacityLimiter = _limit()
    if limit.statistics().tasks_waiting >= MOST_WAITING:
        raise HTTPException(503, "Too many figures are asked for just now; try again.", {"retry-after": "2"})
    return await run_sync(_compute_figure, name, tuple(sorted(values.items())), limiter=limit)


@cache
def _limit() -> CapacityLimiter:
    return CapacityLimiter(AT_ONCE)


@lru_cache(maxsize=256)
def _compute_figure(name: str, values: tuple[tuple[str, str], ...]) -> Figure:
    return TOOLS[name].figure(dict(values))


def _tool(name: str) -> Tool:
    if name not in TOOLS:
        raise HTTPException(404)
    return TOOLS[name]


def _file(text: str, name: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
