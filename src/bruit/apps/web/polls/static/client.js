// Randomises answers with the integers of bruit's own laws: chances out of 2^52, hashes of 32 bits.
// randomise(protocol, answer, memory) -> report; memory stays on this device.
const TOP = 2 ** 52;
export const draw = () => {
	const [low, high] = crypto.getRandomValues(new Uint32Array(2));
	return high * 2 ** 20 + (low >>> 12);
};
export const hex = bytes => [...bytes].map(b => b.toString(16).padStart(2, "0")).join("");
export const token = () => hex(crypto.getRandomValues(new Uint8Array(16)));
const pack = bits => {
	const bytes = new Uint8Array(Math.ceil(bits.length / 8));
	bits.forEach((bit, i) => (bytes[i >> 3] |= bit << (i & 7)));
	return hex(bytes);
};
export const unpack = (text, size) =>
	Array.from({ length: size }, (_, i) => (parseInt(text.substr(2 * (i >> 3), 2), 16) >> (i & 7)) & 1);
const send = (law, place, u) => {
	if (u < law.keep) return place;
	const moved = Math.floor((u - law.keep) / law.other);
	return moved + (moved >= place);
};
const below = (n, next) => {
	let u;
	do u = next(); while (u >= TOP - (TOP % n));
	return u % n;
};
const number = text => text.split("/").reduce((a, b) => a / b);
export const weight = ({ settings, law }, answer) => {
	const [low, high, grid, missing] = ["low", "high", "grid", "missing"].map(name => number(settings[name]));
	const steps = Math.round((high - low) / grid), read = Number.isNaN(+answer) || answer === "" ? missing : +answer;
	const exact = (Math.min(Math.max(read, low), high) - low) / grid;
	let step = Math.round(exact);
	if (step - exact === 0.5 && step % 2) step--; // halves go to the even step
	// in whole numbers: the product is above 2^53, where a browser's numbers leave out every other one
	return law.other + Number((BigInt(step) * BigInt(law.keep - law.other)) / BigInt(steps));
};
const mix = x => {
	x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
	x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
	return (x ^ (x >>> 16)) >>> 0;
};
export const filter = ({ bits, law }, cohort, text) => {
	const bytes = new TextEncoder().encode(text), found = Array(bits).fill(0);
	let one = 0x811c9dc5, two = 0x9e3779b9;
	for (const byte of bytes) {
		one = Math.imul(one ^ byte, 0x01000193);
		two = Math.imul(two ^ byte, 0x85ebca6b);
		two ^= two >>> 13;
	}
	for (let j = 1; j <= law.hashes; j++) {
		const seed = mix(cohort * law.hashes + j);
		found[Math.floor((mix((mix(two + bytes.length) + mix((mix(one) + seed) | 0)) | 0) * bits) / 2 ** 32)] = 1;
	}
	return found;
};
export function randomise(protocol, answer, memory = {}, next = draw) {
	const { law, categories } = protocol, coin = ones => +(next() < ones);
	const place = categories && categories.indexOf(answer);
	if (place < 0) throw new Error("this is not one of the answers");
	const each = ([yes, no]) => categories.map((_, i) => coin(i === place ? yes : no));
	const again = (text, size, ones) => pack(unpack(text, size).map(bit => coin(ones[bit])));
	switch (protocol.protocol) {
		case "Warner":
		case "KRR":
			return send(law, place, next());
		case "OUE":
			return pack(each([law.true, law.false]));
		case "LongitudinalKRR":
			memory[place] ??= send(law.permanent, place, next());
			return send(law.instantaneous, memory[place], next());
		case "LongitudinalOUE": {
			const { keep, other } = law.instantaneous;
			memory[place] ??= pack(each(law.permanent));
			return again(memory[place], categories.length, [other, keep]);
		}
		case "OneBitMean":
			return coin(weight(protocol, answer));
		case "Rappor": {
			const cohort = (memory.cohort ??= below(protocol.cohorts, next)), ones = law.ones;
			memory["=" + answer] ??= pack(filter(protocol, cohort, answer).map(bit => coin(ones.permanent[bit])));
			return [cohort, again(memory["=" + answer], protocol.bits, ones.instantaneous)];
		}
	}
	throw new Error("this page does not know the poll's protocol");
}
// Sends a body that is kept until the collector has it on disk; the same token is counted once.
export const post = (id, body) =>
	fetch(`/api/polls/${id}/reports`, { method: "POST", headers: { "content-type": "application/json" }, body });
