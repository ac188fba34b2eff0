"""The container files: every command, option, path, port and health check in them exists here."""

import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import set_up

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())


def instructions(name: str) -> list[str]:
    return re.findall(rf"^ *{name} (.*)$", DOCKERFILE, re.MULTILINE)


def serve_options(arguments: list[str]) -> dict[str, Any]:
    """The options of `bruit serve` as click reads them."""
    serve = import_module("bruit.apps.cli.serve").command
    assert arguments[0] == "serve"
    return dict(serve.make_context("serve", arguments[1:]).params)


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    copied = {path for line in instructions("COPY") if "--from" not in line for path in shlex.split(line)[:-1]}
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == allowed
    assert [path for path in copied if not (ROOT / path).exists()] == []


def test_the_extras_that_are_installed_exist() -> None:
    extras = re.findall(r"whl\)\[([\w,]+)\]", DOCKERFILE)[0].split(",")
    assert [extra for extra in extras if f"\n{extra} = [" not in (ROOT / "pyproject.toml").read_text()] == []


def test_uv_is_fetched_by_its_entry_in_the_lock() -> None:
    script = re.findall(r"RUN (sed .*?) > uv\.txt", DOCKERFILE)[0]
    told = subprocess.run(["sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout == set_up.entry_of("uv", set_up.LOCK.read_text())


def test_image_and_compose_file_serve_the_port_they_open() -> None:
    (port,) = instructions("EXPOSE")
    service = COMPOSE["services"]["bruit"]
    for arguments in (yaml.safe_load(instructions("CMD")[-1]), service["command"]):
        options = serve_options([re.sub(r"\$\{\w+:-(.*)\}", r"\1", each) for each in arguments])
        assert (options["host"], options["port"]) == ("0.0.0.0", int(port))
    assert service["ports"] == [f"{port}:{port}"]
    assert yaml.safe_load(instructions("ENTRYPOINT")[0]) == ["bruit"]


def test_variables_of_the_compose_file_are_those_the_command_reads() -> None:
    serve = import_module("bruit.apps.cli.serve").command
    read = {option.envvar for option in serve.params if option.envvar}
    assert set(COMPOSE["services"]["bruit"]["environment"]) <= read


def test_the_application_waits_for_a_database_of_that_name() -> None:
    service, database = COMPOSE["services"]["bruit"], COMPOSE["services"]["database"]
    user, name, host = re.findall(r"//(\w+):.*\}@(\w+)/(\w+)$", service["environment"]["BRUIT_STORE"])[0]
    assert database["environment"]["POSTGRES_USER"] == user
    assert (name, host) == ("database", database["environment"]["POSTGRES_DB"])
    assert service["depends_on"][name]["condition"] == "service_healthy"
    assert database["healthcheck"]["test"][1] == "pg_isready"
    assert database["volumes"] == ["database:/var/lib/postgresql/data"]


def test_what_outlives_a_container_is_kept_in_volumes() -> None:
    service = COMPOSE["services"]["bruit"]
    assert [volume.partition(":")[2] for volume in service["volumes"]] == [instructions("WORKDIR")[-1]]
    used = {volume.partition(":")[0] for each in COMPOSE["services"].values() for volume in each["volumes"]}
    assert used == set(COMPOSE["volumes"])


def test_everything_that_the_wheel_is_built_from_is_copied() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = built["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["force-include"], built["project"]["readme"], *built["project"]["license-files"]}
    needed |= {path.partition("/")[0] for path in wheel["packages"]}
    copied = {path for line in instructions("COPY") if "--from" not in line for path in shlex.split(line)[:-1]}
    assert needed <= copied


def test_the_health_check_asks_an_address_that_is_served() -> None:
    check = yaml.safe_load(re.findall(r"HEALTHCHECK.*?CMD (\[.*\])", DOCKERFILE)[0])
    path = re.findall(rf"127\.0\.0\.1:{instructions('EXPOSE')[0]}(/\w+)", check[-1])[0]
    compile(check[-1], "health check", "exec")
    source = (ROOT / "src" / "bruit" / "apps" / "web" / "application.py").read_text()
    assert f'"{path}"' in source


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    build = [str(Path(sys.executable).with_name("uv")), "build", "--wheel", "--quiet", "--no-build-isolation"]
    subprocess.run([*build, "--out-dir", str(tmp_path), "--python", sys.executable], cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    listed = subprocess.run(["git", "ls-files", "src/bruit"], cwd=ROOT, capture_output=True, text=True, check=False)
    if not listed.stdout:
        pytest.skip("outside a git checkout")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {name.removeprefix("src/") for name in listed.stdout.splitlines()} - held == set()
    assert any(name.endswith("entry_points.txt") for name in held)
