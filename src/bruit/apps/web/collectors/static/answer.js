import { makeReport, readTask } from "./report.js";
const $ = id => document.getElementById(id), { name, open } = document.body.dataset;
const code = location.hash.slice(1), words = JSON.parse($("words").textContent), say = text => ($("said").textContent = text);
// One `add` keeps exactly one report of this device, whichever tab is first; it is kept before it is sent.
const kept = bytes => new Promise((done, fail) => {
	const asked = indexedDB.open("bruit split", 1);
	asked.onupgradeneeded = () => asked.result.createObjectStore("sent");
	asked.onerror = fail;
	asked.onsuccess = () => {
		const change = asked.result.transaction("sent", "readwrite"), store = change.objectStore("sent");
		if (bytes) store.add(bytes, name).onerror = event => event.preventDefault();
		const found = store.get(name);
		change.oncomplete = () => done(found.result);
		change.onabort = fail;
	};
});
const send = async bytes => {
	say(words.sending);
	try {
		const got = await fetch(`/collectors/api/${name}/reports`, { method: "POST", body: bytes });
		const said = got.ok ? words.thanks : (words[got.status] ?? (await got.json()).detail);
		$("again").hidden = got.ok || got.status === 409;
		say(said);
	} catch {
		$("again").hidden = false;
		say(words.lost);
	}
};
const read = kind => {
	const inputs = [...document.querySelectorAll("#ask input")];
	if (kind === "MultihotCountVec") return inputs.map(input => +input.checked);
	if (kind.startsWith("Sum")) return inputs.map(input => (input.value && input.checkValidity() ? input.valueAsNumber : NaN));
	return +(inputs.find(input => input.checked)?.value ?? NaN);
};
const answered = async task => {
	let report;
	try {
		report = await makeReport(task, read(task.circuit.kind), code ? Uint8Array.from(code.match(/../g), x => parseInt(x, 16)) : undefined);
	} catch {
		return say(words.first);
	}
	document.querySelectorAll("#ask input").forEach(input => ((input.checked = false), input.type === "number" && (input.value = "")));
	$("ask").hidden = true;
	send(await kept(report));
};
try {
	if (!crypto.subtle) throw new Error("https");
	const task = await readTask(JSON.parse($("task").textContent), name), before = await kept().catch(() => {
		throw new Error("storage");
	});
	$("send").onclick = () => answered(task);
	$("again").onclick = async () => send(await kept());
	if (before) ($("ask").hidden = true), ($("again").hidden = false), say(words.done);
	else if (open) $("send").disabled = false;
	else say(words.closed);
} catch (error) {
	say(words.stopped.replace("{why}", words[error.message] ?? error.message));
}
