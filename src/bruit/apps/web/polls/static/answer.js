import { post, randomise, token, unpack } from "./client.js";
import { keepsPromise } from "./law.js";
import { remember, settle } from "./memory.js";
const $ = id => document.getElementById(id), inputs = document.querySelectorAll("input");
const poll = JSON.parse($("poll").textContent), { id, round, protocol, epsilon, forever } = poll;
const LATER = "Not counted yet. It is kept here, and the same bytes can be sent again.";
let sealed, forgetful = false, admitted = {};
const clear = () => inputs.forEach(input => (input.type === "radio" ? (input.checked = false) : (input.value = "")));
const words = report => {
	const { categories } = protocol;
	if (Array.isArray(report)) return `group ${report[0]} and ${protocol.bits} noised bits`;
	if (protocol.protocol === "OneBitMean") return `the single bit ${report}`;
	if (typeof report === "number") return categories[report];
	return categories.filter((_, i) => unpack(report, categories.length)[i]).join(", ") || "none of the choices";
};
const show = (said, answer) => {
	$("ask").hidden = true;
	$("told").hidden = false;
	$("state").textContent = said;
	$("mine").textContent = answer ?? "not kept on this device";
	$("what").textContent = words(JSON.parse(sealed.body).report);
	$("bytes").textContent = sealed.body;
	$("again").hidden = !!sealed.done;
};
const send = async answer => {
	show("Sending…", answer);
	try {
		const got = await post(id, sealed.body), said = await got.json();
		if (got.ok || got.status === 409) { // counted now or before: only that is final
			sealed.done = true;
			if (!forgetful) settle(id, round, sealed.body).catch(() => {});
		}
		show(got.ok ? "Thank you. Your noised answer has arrived." : said.detail, answer);
	} catch {
		show("It has not arrived yet. Nothing is lost: send the same bytes again.", answer);
	}
	$("state").focus();
};
const answered = async () => {
	const answer = ($("field") ?? document.querySelector("input:checked"))?.value.trim();
	const wrong = answer ? $("field")?.validationMessage : "Give an answer first.";
	if (wrong) return ($("wrong").textContent = wrong);
	let mine;
	const draw = memory => {
		const report = randomise(protocol, answer, forever ? memory : {});
		return (mine = JSON.stringify({ token: token(), round, report, ...admitted }));
	};
	$("send").disabled = true;
	try {
		sealed = forgetful ? { body: draw({}) } : await remember(id, round, draw);
	} catch {
		return ($("wrong").textContent = "This device could not keep your report, so nothing was drawn or sent. Load the page again.");
	}
	clear();
	send(sealed.body === mine ? answer : "given in another tab before");
};
const start = async () => {
	clear();
	if (!keepsPromise(protocol, epsilon, forever))
		return ($("wrong").textContent = `Nothing can be sent: the noise that this page was given protects less than the ε = ${epsilon} it shows.`);
	$("law").textContent = `This script has checked the noise it was given, in whole numbers: ε = ${epsilon} for one report${forever ? `, ${forever} for all reports of one answer` : ""}.`;
	try {
		sealed = await remember(id, round);
	} catch {
		forgetful = true;
	}
	if (poll.admission && !sealed) {
		if (!crypto.subtle || forgetful) return ($("wrong").textContent = "Cards need https and a browser that may keep things for this page.");
		try {
			admitted = await (await import("./admission.js")).admit(id, round, poll.admission, location.hash.slice(1));
		} catch (error) {
			return ($("wrong").textContent = error.message);
		}
	}
	if (sealed) show(sealed.done ? "You have answered on this device." : LATER);
	else if (!poll.open) $("wrong").textContent = "This poll is closed.";
	else if (forgetful && forever)
		$("wrong").textContent = "This poll may ask again, and this browser keeps nothing: fresh noise each time would wear off. Allow storage for this page to answer.";
	else {
		if (forgetful) $("wrong").textContent = "This browser keeps nothing, so it cannot remember that you answered: answer once. Each further report would tell as much about you again.";
		$("send").disabled = false;
	}
};
$("send").onclick = answered;
$("again").onclick = () => send();
$("field")?.addEventListener("keydown", event => event.key === "Enter" && !$("send").disabled && answered());
addEventListener("pageshow", event => event.persisted && location.reload()); // Back shows no answer
start();
