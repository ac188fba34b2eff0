// A sealed report of an answer: nonce, token, public share, the first collector's share, the sealed half of the second.
import { join, prio3 } from "./prio3.js";
import { seal, sha256 } from "./seal.js";
const hex = text => Uint8Array.from(text.match(/../g) ?? [], pair => parseInt(pair, 16));
const draw = size => crypto.getRandomValues(new Uint8Array(size));
const INFO = new TextEncoder().encode("bruit split poll share");
const parts = fraction => fraction.split("/").map(BigInt);
// The task if its text is what the name binds, and if its noise hides one answer at the epsilon that is shown. What is
// wrong with it is named as in the words of the page.
export async function readTask(text, name) {
	const digest = await sha256(new TextEncoder().encode(text)), task = JSON.parse(text), { circuit } = task;
	if ([...digest].some((byte, i) => byte !== hex(name)[i])) throw new Error("other_task");
	const { length = 1, largest = 1, most = 0 } = circuit, moved = { Count: 1, Sum: largest, SumVec: length * largest };
	const needed = moved[circuit.kind] ?? (circuit.kind === "Histogram" ? Math.min(2, length) : Math.min(2 * most, length));
	if (task.sensitivity !== needed || task.format !== 1 || parts(task.epsilon)[0] <= 0n) throw new Error("false_noise");
	return { ...task, digest };
}
export async function makeReport(task, answer, token = draw(16), nonce = draw(16)) {
	const scheme = prio3(task.circuit, task.digest), [common, first, second] = scheme.shard(answer, nonce, draw(scheme.size));
	const info = join(INFO, task.digest, nonce, token, await sha256(common));
	return join(nonce, token, common, first, await seal(hex(task.collectors[1].key), info, second));
}
