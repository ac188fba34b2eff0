"""The pages of the explorer: one for each tool, its figure as data, and what is exported."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from bruit.apps.web.explorer import accuracy, belief, budget
from bruit.apps.web.explorer.figure import Tool
from bruit.apps.web.explorer.parameters import STEPS, Number, link, read
from bruit.apps.web.rendering import page
from bruit.errors import BruitError

TOOLS = {tool.name: tool for tool in (budget.TOOL, belief.TOOL, accuracy.TOOL)}
router = APIRouter(include_in_schema=False)


@router.get("")
def start() -> Response:
    """The first tool."""
    return RedirectResponse("/explorer/budget", 307)


@router.get("/{name}")
def show(request: Request, name: str) -> Response:
    """A tool with the view that its address describes; one that cannot be read starts anew and says why."""
    tool, refused = _tool(name), ""
    try:
        values = read(tool.parameters, request.query_params)
        figure = tool.figure(values)
    except BruitError as error:
        refused, values = str(error), read(tool.parameters, {})
        figure = tool.figure(values)
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
def figure(request: Request, name: str) -> Response:
    """The figure of a view in JSON; what cannot be drawn is answered by a sentence, which the page shows."""
    tool = _tool(name)
    try:
        values = read(tool.parameters, request.query_params)
        return JSONResponse({**tool.figure(values).to_json(), "link": link(values)})
    except BruitError as error:
        return JSONResponse({"refused": str(error)})


@router.get("/{name}/data.csv")
def data(request: Request, name: str) -> Response:
    """The points of the figure of a view."""
    tool = _tool(name)
    text = tool.figure(read(tool.parameters, request.query_params)).frame().write_csv()
    return _file(text, f"{name}.csv", "text/csv")


@router.get("/{name}/code.py")
def code(request: Request, name: str) -> Response:
    """The Python that computes the same numbers."""
    tool = _tool(name)
    return _file(tool.code(read(tool.parameters, request.query_params)), f"{name}.py", "text/x-python")


def _tool(name: str) -> Tool:
    if name not in TOOLS:
        raise HTTPException(404)
    return TOOLS[name]


def _file(text: str, name: str, kind: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
