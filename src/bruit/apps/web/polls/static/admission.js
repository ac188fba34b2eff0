// A card's code buys one blind signature: RSABSSA-SHA384-PSS-Randomized [RFC 9474]. Needs https or localhost.
import { hex } from "./client.js";
import { once } from "./memory.js";
const random = size => crypto.getRandomValues(new Uint8Array(size)), text = words => new TextEncoder().encode(words);
const join = (...parts) => Uint8Array.from(parts.flatMap(part => [...part]));
const digest = async (name, ...parts) => new Uint8Array(await crypto.subtle.digest(name, join(...parts)));
const number = bytes => BigInt("0x" + hex(bytes)), digits = (value, size) => value.toString(16).padStart(2 * size, "0");
const power = (base, exponent, n) => {
	let result = 1n;
	for (; exponent; exponent >>= 1n, base = (base * base) % n) if (exponent & 1n) result = (result * base) % n;
	return result;
};
const inverse = (a, n) => {
	let [r, s, x, y] = [n, a, 0n, 1n];
	while (s) [r, s, x, y] = [s, r % s, y, x - (r / s) * y];
	if (r !== 1n) throw new Error("no inverse");
	return ((x % n) + n) % n;
};
// EMSA-PSS with SHA-384 and 48 bytes of salt [RFC 8017, 9.1.1], for a modulus of whole bytes
export const encode = async (message, size, salt) => {
	const hash = await digest("SHA-384", new Uint8Array(8), await digest("SHA-384", message), salt);
	const block = join(new Uint8Array(size - salt.length - 50), [1], salt), mask = [];
	for (let i = 0; mask.length < block.length; i++) mask.push(...(await digest("SHA-384", hash, [0, 0, 0, i])));
	const masked = block.map((byte, i) => byte ^ mask[i]);
	masked[0] &= 127;
	return join(masked, hash, [188]);
};
export const blind = async ({ n, e }, message, salt = random(48), factor) => {
	const modulus = BigInt("0x" + n), size = n.length / 2, r = factor ?? number(random(size + 16)) % modulus;
	const encoded = number(await encode(message, size, salt));
	const blinded = digits((encoded * power(r, BigInt(e), modulus)) % modulus, size);
	return { message: hex(message), blinded, inverse: digits(inverse(r, modulus), size), encoded: digits(encoded, size) };
};
export const finalise = ({ n, e }, waiting, answer) => {
	const modulus = BigInt("0x" + n), [signed, back] = [answer, waiting.inverse].map(one => BigInt("0x" + one));
	const signature = (signed * back) % modulus;
	if (power(signature, BigInt(e), modulus) !== BigInt("0x" + waiting.encoded)) throw new Error("a wrong signature");
	return digits(signature, n.length / 2);
};
// The admission of this device, asked for once and kept; { token, admission } go into the report of a round. What it
// refuses is named as in the words of the page.
export const admit = async (id, round, key, code) => {
	const waiting = await once(`${id} card`, code && (await blind(key, random(64)))), kept = await once(`${id} admission`);
	if (!waiting) throw new Error("no_card");
	let signature = kept;
	if (!signature) {
		const headers = { "content-type": "application/json" }, body = JSON.stringify({ code, blinded: waiting.blinded });
		const got = await fetch(`/api/polls/${id}/admissions`, { method: "POST", headers, body }), said = await got.json();
		if (!got.ok) throw new Error({ 403: "unknown_card", 409: "used_card" }[got.status] ?? said.detail);
		signature = await once(`${id} admission`, finalise(key, waiting, said.signature));
	}
	const message = Uint8Array.from(waiting.message.match(/../g), byte => parseInt(byte, 16));
	const bytes = await digest("SHA-256", text("bruit admission "), message, [0, 0, round >> 8, round & 255]);
	return { token: hex(bytes).slice(0, 32), admission: { message: waiting.message, signature } };
};
