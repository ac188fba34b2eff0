"""Polls made as a program makes them, and what a device keeps of one."""

from typing import Any

KEPT = """() => new Promise(done => (indexedDB.open("bruit polls").onsuccess = ({ target: { result: database } }) => {
  const found = {}, change = database.transaction(["sealed", "noise"]);
  for (const name of ["sealed", "noise"])
    change.objectStore(name).getAll().onsuccess = event => (found[name] = event.target.result);
  change.oncomplete = () => (database.close(), done(found));
}))"""
"""What a device keeps of all polls."""


def publish(
    site: Any,
    *,
    kind: Any,
    epsilon: str = "1",
    forever: Any = None,
    results: str = "everyone",
    password: str = "",
    **more: Any,
) -> Any:
    """The identity of a new poll, made as a program makes one."""
    body = {"kind": kind, "question": "What is it?", "epsilon": epsilon, "forever": forever, "results": results}
    with site.steward() as client:
        made = client.post("/api/polls", json=body | {"password": password} | more)
    assert made.status_code == 201, made.text
    return made.json()["id"]


def answers(site: Any, identity: Any) -> Any:
    with site.client() as client:
        return client.get(f"/api/polls/{identity}/results").json()["answers"]
