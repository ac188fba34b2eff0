"""Two collectors as two processes on this machine: a server and `bruit join`, and people who answer with Python."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import httpx
import pytest

pytest.importorskip("cryptography", reason="split polls need bruit[collectors]")

from bruit.aggregation.collecting import Collector, State
from bruit.apps.web.collectors.second import SecondCollector
from bruit.apps.web.collectors.split_client import NotDelivered, SplitPollClient

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]
JOIN = "from bruit.apps.cli.join import command; command()"


def invitation(site: Any, **changes: Any) -> str:
    asked = {
        "question": "Where to?",
        "kind": "choices",
        "labels": ["sea", "hills", "town"],
        "epsilon": "1000",
        "least_batch": 10,
        "name": "The school",
        "address": site.address,
    }
    with site.steward() as steward:
        answered = steward.post("/collectors/api/invitations", json=asked | changes)
    assert answered.status_code == 200, answered.text
    return str(answered.json()["link"])


def close(site: Any, name: str) -> int:
    with site.steward() as steward:
        return int(steward.post(f"/collectors/api/{name}/close").json()["received"])


def join(link: str, store: str) -> subprocess.Popen[str]:
    command: list[Any] = [sys.executable, "-c", JOIN, link, "--name", "The library", "--store", store, "--json"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=os.environ | {"NUMBA_NUM_THREADS": "1"}, **pipes)


def read_name(second: subprocess.Popen[str]) -> str:
    """The poll's name that a second collector prints once it has joined."""
    assert second.stderr is not None
    while not (line := second.stderr.readline()).startswith("Poll: "):
        assert line, second.communicate()
    return line.removeprefix("Poll: ").strip()


def test_a_poll_between_a_server_and_a_second_process(site: Any, tmp_path: Path) -> None:
    link, store = invitation(site), f"sqlite:///{tmp_path}/library.db"
    second = join(link, store)
    name = read_name(second)
    second.send_signal(signal.SIGINT)  # somebody closes the lid, and starts it again
    assert "Traceback" not in second.communicate(timeout=20)[1]
    second = join(link, store)
    assert read_name(second) == name
    client = SplitPollClient(site.address, name)
    assert [party.name for party in client.task.parties] == ["The school", "The library"]
    for place in (0, 1, 1, 2, 2, 2, 2, 0, 1, 1, 1):
        assert client.answer(place)
    report = client.seal(2)
    assert client.send(report)
    assert not client.send(report)  # the same bytes again: known, not counted
    assert close(site, name) == 12
    with pytest.raises(NotDelivered, match="closed"):
        client.answer(0)
    out, _ = second.communicate(timeout=120)
    ended = json.loads(out)
    assert (second.returncode, ended["state"]) == (0, "published")
    assert ended["release"]["value"] == [2, 5, 5]
    with site.client() as visitor:
        described = visitor.get(f"/collectors/api/{name}").json()
        assert "sea: <b>2</b>" in visitor.get(f"/collectors/{name}").text
    assert described["release"]["value"] == [2, 5, 5]
    assert described["state"] == "published"


@pytest.mark.stress
def test_either_process_may_be_killed_while_they_talk(serve: Any, tmp_path: Path) -> None:
    site = serve(f"sqlite:///{tmp_path}/school.db")
    port = httpx.URL(site.address).port
    link, store = invitation(site, least_batch=10, kind="yes-no", labels=["yes"]), f"sqlite:///{tmp_path}/library.db"
    second = SecondCollector(link, store, name="The library")
    client = SplitPollClient(site.address, second.task.name)
    for answer in [1] * 8 + [0] * 4:
        client.answer(answer)
    close(site, second.task.name)
    steps: list[str] = []

    class Ended(BaseException):
        """The end of the second process."""

    def killing(step: str, message: bytes) -> bytes:
        answered = SecondCollector._step(second, step, message)
        if step not in steps:  # the first time, the server is killed after its answer, and so are we
            steps.append(step)
            site.kill()
            raise Ended
        return answered

    totals: set[bytes] = set()
    for _ in range(6):
        second = SecondCollector(link, store, name="ignored: the first name stays")
        second._step = killing  # type: ignore[method-assign]
        try:
            second.follow(wait=0.1)
        except Ended:
            site = serve(f"sqlite:///{tmp_path}/school.db", port)
        totals |= {Collector(store, second.task.name).record.total} - {b""}
    assert steps == ["match", "verify", "settle", "commit", "open"]
    assert len(totals) == 1, "noise was drawn twice"
    assert second.collector.state is State.PUBLISHED
    assert json.loads(second.collector.release)["value"] == [8]


def test_what_is_no_report_is_refused_in_words(site: Any, tmp_path: Path) -> None:
    second = SecondCollector(invitation(site), f"sqlite:///{tmp_path}/library.db", name="The library")
    name = second.task.name
    whole = SplitPollClient(site.address, name).seal(1)
    with site.client() as visitor:
        for wrong, said in (
            (b"", "0 bytes is cut"),
            (whole[:-1], "is cut or too long"),
            (whole + b"x", "it is longer than"),
            (b"x" * 100_000, "it is longer than"),
        ):
            refused = visitor.post(f"/collectors/api/{name}/reports", content=wrong)
            assert refused.status_code == 422, refused.text
            assert said in refused.json()["detail"]
        stolen = SplitPollClient(site.address, name).seal(2, token=whole[16:32])
        assert visitor.post(f"/collectors/api/{name}/reports", content=whole).json() == {
            "accepted": True,
            "counted": True,
        }
        assert visitor.post(f"/collectors/api/{name}/reports", content=stolen).status_code == 409
        assert visitor.get("/collectors/api/" + "0" * 64).status_code == 404


def test_only_the_second_collector_takes_part_and_only_the_steward_closes(site: Any, tmp_path: Path) -> None:
    link = invitation(site)
    second = SecondCollector(link, f"sqlite:///{tmp_path}/library.db", name="The library")
    name = second.task.name
    with site.client() as visitor:
        assert visitor.post(f"/collectors/api/{name}/close").status_code == 401
        assert visitor.get(f"/collectors/api/{name}/rows").status_code == 401
        assert visitor.post(f"/collectors/api/{name}/steps/match", content=b"").status_code == 401
        other = {"authorization": "Bearer " + invitation(site).rpartition("/")[2]}
        assert visitor.post(f"/collectors/api/{name}/steps/match", headers=other).status_code == 401
        joining = {"name": "A thief", "sealing_key": "00" * 32, "verification_key": "00" * 32}
        taken = visitor.post(f"/collectors/api/join/{second.invited.secret}", json=joining)
        assert taken.status_code == 409
        open_still = visitor.post(
            f"/collectors/api/{name}/steps/match", headers={"authorization": f"Bearer {second.invited.secret}"}
        )
        assert open_still.status_code == 409
        assert "open" in open_still.json()["detail"]


def test_a_half_that_was_altered_does_not_count(site: Any, tmp_path: Path) -> None:
    """The first collector keeps the sealed halves and can drop them; a changed one opens for nobody."""
    second = SecondCollector(invitation(site), f"sqlite:///{tmp_path}/library.db", name="The library")
    client = SplitPollClient(site.address, second.task.name)
    for _ in range(11):
        client.answer(1)
    forged = bytearray(client.seal(0))
    forged[-1] ^= 1
    client.send(bytes(forged))
    assert close(site, second.task.name) == 12
    assert second.follow(wait=0.1) is State.PUBLISHED
    release = json.loads(second.collector.release)
    assert release["value"] == [0, 11, 0]
    assert (release["details"]["received"], release["details"]["accepted"]) == (11, 11)


def test_the_page_names_both_collectors_and_travels_in_twelve_kilobytes(site: Any, tmp_path: Path) -> None:
    second = SecondCollector(
        invitation(site, question="Is </script> <b>safe</b>?"), f"sqlite:///{tmp_path}/library.db", name="The library"
    )
    travelled = 0
    with site.client() as visitor:
        paths = [second.task.name, *(f"files/{name}" for name in ("answer.js", "prio3.js", "report.js", "seal.js"))]
        for path in (*paths, "files/split.css"):
            with visitor.stream("GET", f"/collectors/{path}") as answered:
                assert answered.status_code == 200
                assert answered.headers["content-encoding"] == "gzip"
                travelled += sum(map(len, answered.iter_raw()))
        page = visitor.get(f"/collectors/{second.task.name}").text
        assert visitor.get("/collectors").status_code == 200
        assert visitor.get("/collectors/files/api.py").status_code == 404
    for said in ("The school", "The library", second.task.parties[1].words, "grade 1 of 3", "Experimental"):
        assert said in page
    assert "<b>safe" not in page
    assert travelled <= 12_000


def test_a_participant_answers_in_a_browser(visit: Any, site: Any, tmp_path: Path, assert_accessible: Any) -> None:
    second = SecondCollector(invitation(site), f"sqlite:///{tmp_path}/library.db", name="The library")
    client = SplitPollClient(site.address, second.task.name)
    for _ in range(10):
        client.answer(0)
    page = visit(f"/collectors/{second.task.name}", phone=True)
    assert_accessible(page)
    page.get_by_label("town").check()
    page.get_by_role("button", name="Split and send").click()
    page.get_by_text("Both halves have arrived").wait_for()
    page.reload()
    page.get_by_text("You have answered on this device").wait_for()
    assert close(site, second.task.name) == 11
    assert second.follow(wait=0.1) is State.PUBLISHED
    assert json.loads(second.collector.release)["value"] == [10, 0, 1]


def test_two_tabs_of_one_browser_send_one_report(visit: Any, site: Any, tmp_path: Path) -> None:
    second = SecondCollector(invitation(site), f"sqlite:///{tmp_path}/library.db", name="The library")
    first_tab = visit(f"/collectors/{second.task.name}")
    second_tab = first_tab.context.new_page()
    second_tab.goto(first_tab.url)
    for tab, label in ((first_tab, "town"), (second_tab, "sea")):
        tab.get_by_label(label).check()
    for tab in (first_tab, second_tab):
        tab.get_by_role("button", name="Split and send").click()
    for tab in (first_tab, second_tab):
        tab.get_by_text("Both halves have arrived").wait_for()
    assert close(site, second.task.name) == 1


def test_the_steward_invites_and_closes_with_forms(site: Any, tmp_path: Path) -> None:
    asked = {
        "question": "Is <i>this</i> shown as it is?",
        "kind": "marks",
        "labels": "one\n\n two \nthree",
        "largest": "2",
        "epsilon": "0.5",
        "least_batch": "10",
        "name": "The school",
        "address": site.address,
    }
    with site.client(follow_redirects=True) as steward:
        assert "Make the invitation" not in steward.get("/collectors").text
        steward.get(f"/enter/{site.key}")
        token = re.search(r'name="csrf" value="(\w+)"', steward.get("/collectors").text)
        assert token is not None
        csrf = {"csrf": token[1]}
        assert steward.post("/collectors/invite", data=asked).status_code == 403
        for field, value, said in (
            ("least_batch", "9", "at least 10"),
            ("least_batch", "many", "whole number"),
            ("epsilon", "", "look again at: epsilon"),
            ("labels", "", "look again at: labels"),
            ("address", "http://school.example", "https"),
            ("largest", "4", "most"),
        ):
            refused = steward.post("/collectors/invite", data=asked | csrf | {field: value})
            assert refused.status_code == 422
            assert said in refused.text
        made = steward.post("/collectors/invite", data=asked | csrf).text
        link = re.search(rf"bruit join ({re.escape(site.address)}/collectors/join/[\w-]+)", made)
        assert link is not None
        second = SecondCollector(link[1], f"sqlite:///{tmp_path}/library.db", name="The library")
        assert second.task.labels == ("one", "two", "three")
        listed = steward.get("/collectors").text
        assert second.task.parties[1].words in listed
        assert "<i>this" not in listed
        closed = steward.post(f"/collectors/{second.task.name}/close", data=csrf)
        assert closed.status_code == 200
    assert second.follow(wait=0.1) is State.TOO_FEW


def test_a_busy_first_collector_is_asked_again(site: Any, tmp_path: Path) -> None:
    second = SecondCollector(invitation(site), f"sqlite:///{tmp_path}/library.db", name="The library")
    client = SplitPollClient(site.address, second.task.name)
    for _ in range(10):
        client.answer(1)
    close(site, second.task.name)
    step, refusals = second._step, [503, 429]

    def busy(name: str, message: bytes) -> bytes:
        if refusals:
            raise HTTPError("", refusals.pop(), "busy", None, None)  # type: ignore[arg-type]
        return step(name, message)

    second._step = busy  # type: ignore[assignment, method-assign]
    assert second.follow(wait=0.01) is State.PUBLISHED
    assert json.loads(second.collector.release)["value"] == [0, 10, 0]
