// An open question: spells an answer as bruit.local.PrefixRounds does, and waits for the round of this device.
import { draw } from "./client.js";
const END = "·", NONE_OF_THESE = "…";
export const spell = ({ alphabet, length }, text) => {
	const letters = [...alphabet], first = sign => [...sign.normalize("NFD")][0];
	const read = [...text.normalize("NFC").toLowerCase()].map(sign => (letters.includes(sign) ? sign : first(sign)));
	return read.filter(letter => letters.includes(letter)).slice(0, length).join("");
};
// What the round is told of an answer, before the noise.
export const prefix = (search, { categories }, round, text) => {
	const word = [...spell(search, text)], letters = search.length - search.rounds + round;
	const begun = word.length < letters ? word.join("") + END : word.slice(0, letters).join("");
	return categories.includes(begun) ? begun : NONE_OF_THESE;
};
// The round in which this device answers, of those not over: the last with its share, each other equally often.
export const drawn = ({ rounds, last }, round, next = draw) => {
	let mine;
	do {
		const u = next() / 2 ** 52;
		mine = u < last ? rounds : 1 + Math.floor(((u - last) / (1 - last)) * (rounds - 1));
	} while (mine < round);
	return mine;
};
const PAUSE = 5000; // between five and ten seconds: a class asks from one address
// The poll once it is in the round of this device; tell(round) before each wait. Nothing is sent meanwhile.
export const turn = async (poll, tell, pause = PAUSE) => {
	let now = poll, mine = drawn(poll.search, poll.round);
	for (;;) {
		if (now.round > mine) mine = drawn(poll.search, now.round);
		if (now.open && now.round === mine) return now;
		tell(mine);
		await new Promise(done => setTimeout(done, pause * (1 + Math.random())));
		const got = await fetch(`/api/polls/${poll.id}`).catch(() => null);
		if (got?.ok) now = await got.json();
	}
};
