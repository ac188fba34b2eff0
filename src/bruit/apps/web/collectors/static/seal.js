// Seals bytes to an X25519 key: HPKE in base mode, HKDF-SHA256, AES-128-GCM [RFC 9180]. Needs https or localhost.
import { join } from "./prio3.js";
const { subtle } = crypto, text = words => new TextEncoder().encode(words);
export const sha256 = async bytes => new Uint8Array(await subtle.digest("SHA-256", bytes));
const hmac = async (key, data) => {
	const made = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
	return new Uint8Array(await subtle.sign("HMAC", made, data));
};
const KEM = join(text("KEM"), [0, 32]), SUITE = join(text("HPKE"), [0, 32, 0, 1, 0, 1]), ZEROS = new Uint8Array(32);
const extract = (suite, salt, label, data) => hmac(salt, join(text("HPKE-v1"), suite, text(label), data));
const expand = async (suite, key, label, info, size) =>
	(await hmac(key, join([0, size], text("HPKE-v1"), suite, text(label), info, [1]))).slice(0, size);
export async function seal(key, info, data) {
	const own = await subtle.generateKey({ name: "X25519" }, true, ["deriveBits"]);
	const theirs = await subtle.importKey("raw", key, { name: "X25519" }, false, []);
	const sent = new Uint8Array(await subtle.exportKey("raw", own.publicKey));
	const common = new Uint8Array(await subtle.deriveBits({ name: "X25519", public: theirs }, own.privateKey, 256));
	const shared = await expand(KEM, await extract(KEM, ZEROS, "eae_prk", common), "shared_secret", join(sent, key), 32);
	const hashes = ["psk_id_hash", "info_hash"].map((label, i) => extract(SUITE, ZEROS, label, i ? info : []));
	const context = join([0], ...(await Promise.all(hashes))), secret = await extract(SUITE, shared, "secret", []);
	const aes = await subtle.importKey("raw", await expand(SUITE, secret, "key", context, 16), "AES-GCM", false, ["encrypt"]);
	const iv = await expand(SUITE, secret, "base_nonce", context, 12);
	return join(sent, new Uint8Array(await subtle.encrypt({ name: "AES-GCM", iv }, aes, data)));
}
