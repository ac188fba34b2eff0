import { post, randomise, token, unpack } from "./client.js";
const $ = id => document.getElementById(id);
const poll = JSON.parse($("poll").textContent), key = "bruit " + poll.id;
let state = { sent: {}, memory: {} };
try {
	state = JSON.parse(localStorage[key] || 0) || state;
} catch {}
const keep = () => {
	try {
		localStorage[key] = JSON.stringify(state);
	} catch {}
};
const words = report => {
	const { categories, protocol } = poll.protocol;
	if (Array.isArray(report)) return `group ${report[0]} and ${poll.protocol.bits} noised bits`;
	if (protocol === "OneBitMean") return `the single bit ${report}`;
	if (typeof report === "number") return categories[report];
	return categories.filter((_, i) => unpack(report, categories.length)[i]).join(", ") || "none of the choices";
};
const show = (said, answer) => {
	const { body, done } = state.sent[poll.round];
	$("ask").hidden = true;
	$("told").hidden = false;
	$("state").textContent = said;
	$("mine").textContent = answer ?? "not kept on this device";
	$("what").textContent = words(JSON.parse(body).report);
	$("bytes").textContent = body;
	$("again").hidden = !!done;
};
const send = async answer => {
	const sent = state.sent[poll.round];
	show("Sending…", answer);
	try {
		const got = await post(poll.id, sent.body), said = await got.json();
		sent.done = got.ok || got.status === 409;
		show(got.ok ? "Thank you. Your noised answer has arrived." : said.detail, answer);
		keep();
	} catch {
		show("It has not arrived yet. Nothing is lost: send the same bytes again.", answer);
	}
	$("state").focus();
};
const read = () => ($("field") ?? document.querySelector("input:checked"))?.value.trim();
const answered = () => {
	const answer = read(), wrong = answer ? $("field")?.validationMessage : "Give an answer first.";
	if (wrong) return ($("wrong").textContent = wrong);
	const report = randomise(poll.protocol, answer, poll.again ? state.memory : {});
	// Drawn once and kept before it is sent: neither a reload nor a second look draws again.
	state.sent = { [poll.round]: { body: JSON.stringify({ token: token(), round: poll.round, report }) } };
	keep();
	send(answer);
};
$("send").onclick = answered;
$("again").onclick = () => send();
$("field")?.addEventListener("keydown", event => event.key === "Enter" && answered());
if (state.sent[poll.round]) {
	show("You have answered on this device.");
} else if (poll.open) $("send").disabled = false;
else $("wrong").textContent = "This poll is closed.";
