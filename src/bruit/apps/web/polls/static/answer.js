import { post, randomise, token, unpack } from "./client.js";
import { keepsPromise } from "./law.js";
import { remember, settle } from "./memory.js";
const $ = id => document.getElementById(id), inputs = document.querySelectorAll("input");
const poll = JSON.parse($("poll").textContent), { id, epsilon, forever, search } = poll, say = { ...poll.say, ...poll.rounds };
let { round, protocol } = poll;
const kept = search ? 1 : round; // one report of all rounds, or one of each
const phrase = (text, values) => text.replace(/{(\w+)}/g, (_, name) => values[name]);
const label = answer => [...inputs].find(input => input.type === "radio" && input.value === answer)?.parentNode.textContent ?? answer;
let sealed, forgetful = false, admitted = {};
const clear = () => inputs.forEach(input => (input.type === "radio" ? (input.checked = false) : (input.value = "")));
const words = report => {
	const { categories } = protocol;
	if (Array.isArray(report)) return phrase(say.group, { group: report[0], bits: protocol.bits });
	if (protocol.protocol === "OneBitMean") return phrase(say.bit, { bit: report });
	if (typeof report === "number") return label(categories[report]);
	return categories.filter((_, i) => unpack(report, categories.length)[i]).map(label).join(", ") || say.none;
};
const show = (said, answer) => {
	$("ask").hidden = true;
	$("told").hidden = false;
	$("state").textContent = said;
	$("mine").textContent = answer ? label(answer) : say.forgotten;
	$("what").textContent = words(JSON.parse(sealed.body).report);
	$("bytes").textContent = sealed.body;
	$("again").hidden = !!sealed.done;
};
const send = async answer => {
	show(say.sending, answer);
	try {
		const got = await post(id, sealed.body), said = await got.json();
		if (got.ok || got.status === 409) { // counted now or before: only that is final
			sealed.done = true;
			if (!forgetful) settle(id, kept, sealed.body).catch(() => {});
		}
		show(got.ok ? say.thanks : (say[got.status] ?? said.detail), answer);
	} catch {
		show(say.lost, answer);
	}
	$("state").focus();
};
// what the round of this device is told of an answer to an open question; nothing where it cannot be asked
const inTurn = async answer => {
	const { prefix, spell, turn } = await import("./rounds.js");
	if (!spell(search, answer)) $("send").disabled = false;
	if (!spell(search, answer)) return void ($("wrong").textContent = say.no_letters);
	inputs.forEach(input => (input.readOnly = true));
	({ round, protocol } = await turn(poll, mine => ($("turn").textContent = phrase(say.turn, { ...search, mine }))));
	$("turn").textContent = "";
	if (!keepsPromise(protocol, epsilon) || !protocol.categories.includes("…")) return void ($("wrong").textContent = phrase(say.broken, poll));
	return prefix(search, protocol, round, answer);
};
const answered = async () => {
	const answer = ($("field") ?? document.querySelector("input:checked"))?.value.trim();
	const wrong = answer ? $("field")?.validationMessage : say.first;
	if (wrong) return ($("wrong").textContent = wrong);
	$("send").disabled = true;
	let mine, said = answer;
	if (search) {
		said = await inTurn(answer);
		if (!said) return;
	}
	const draw = memory => {
		const report = randomise(protocol, said, forever ? memory : {});
		return (mine = JSON.stringify({ token: token(), round, report, ...admitted }));
	};
	try {
		sealed = forgetful ? { body: draw({}) } : await remember(id, kept, draw);
	} catch {
		return ($("wrong").textContent = say.unkept);
	}
	clear();
	send(sealed.body === mine ? answer : say.other_tab);
};
const start = async () => {
	clear();
	if (!keepsPromise(protocol, epsilon, forever))
		return ($("wrong").textContent = phrase(say.broken, poll));
	$("law").textContent = phrase(forever ? say.checked_rounds : say.checked, poll);
	try {
		sealed = await remember(id, kept);
	} catch {
		forgetful = true;
	}
	if (poll.admission && !sealed) {
		if (!crypto.subtle || forgetful) return ($("wrong").textContent = say.cards);
		try {
			admitted = await (await import("./admission.js")).admit(id, round, poll.admission, location.hash.slice(1));
		} catch (error) {
			return ($("wrong").textContent = say[error.message] ?? error.message);
		}
	}
	if (sealed) show(sealed.done ? say.done : say.later);
	else if (!poll.open) $("wrong").textContent = say.closed;
	else if (forgetful && forever)
		$("wrong").textContent = say.wears_off;
	else {
		if (forgetful) $("wrong").textContent = say.forgetful;
		$("send").disabled = false;
	}
};
$("send").onclick = answered;
$("again").onclick = () => send();
$("field")?.addEventListener("keydown", event => event.key === "Enter" && !$("send").disabled && answered());
addEventListener("pageshow", event => event.persisted && location.reload()); // Back shows no answer
start();
