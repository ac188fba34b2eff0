// Splits an answer into two shares that are random alone: Prio3 (VDAF draft 20, wire version 18). Experimental.
// The bytes are those of bruit.aggregation. BigInt takes a time that depends on its values; it stays on this device.
const KINDS = ["", "Count", "Sum", "SumVec", "Histogram", "MultihotCountVec"];
const SUM = 2, HISTOGRAM = 4, RATE = 168, SEED = 32;
const ROUNDS = new Int32Array([ // low and high halves of Keccak's last twelve constants
	0x8000808b, 0, 0x8b, 0x80000000, 0x8089, 0x80000000, 0x8003, 0x80000000, 0x8002, 0x80000000, 0x80, 0x80000000,
	0x800a, 0, 0x8000000a, 0x80000000, 0x80008081, 0x80000000, 0x8080, 0x80000000, 0x80000001, 0, 0x80008008, 0x80000000,
]);
const LANES = [], TURNS = [];
for (let x = 1, y = 0, t = 1; t < 25; t++) {
	LANES.push(2 * (x + 5 * y));
	TURNS.push(((t * (t + 1)) / 2) % 64);
	[x, y] = [y, (2 * x + 3 * y) % 5];
}
const column = new Int32Array(10), row = new Int32Array(10);
const keccak = s => { // 25 lanes, each as a low and a high half of 32 bits
	for (let r = 0; r < 24; r += 2) {
		for (let x = 0; x < 10; x++) column[x] = s[x] ^ s[x + 10] ^ s[x + 20] ^ s[x + 30] ^ s[x + 40];
		for (let x = 0; x < 10; x += 2) {
			const l = column[(x + 2) % 10], h = column[(x + 3) % 10], p = (x + 8) % 10;
			const dl = column[p] ^ ((l << 1) | (h >>> 31)), dh = column[p + 1] ^ ((h << 1) | (l >>> 31));
			for (let y = x; y < 50; y += 10) (s[y] ^= dl), (s[y + 1] ^= dh);
		}
		let l = s[2], h = s[3];
		for (let t = 0; t < 24; t++) {
			const to = LANES[(t + 1) % 24], n = TURNS[t] & 31, swap = TURNS[t] > 31;
			const a = swap ? h : l, b = swap ? l : h;
			(l = s[to]), (h = s[to + 1]);
			s[to] = n ? (a << n) | (b >>> (32 - n)) : a;
			s[to + 1] = n ? (b << n) | (a >>> (32 - n)) : b;
		}
		for (let y = 0; y < 50; y += 10) {
			for (let x = 0; x < 10; x++) row[x] = s[y + x];
			for (let x = 0; x < 10; x++) s[y + x] = row[x] ^ (~row[(x + 2) % 10] & row[(x + 4) % 10]);
		}
		(s[0] ^= ROUNDS[r]), (s[1] ^= ROUNDS[r + 1]);
	}
};
export const join = (...parts) => {
	const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	parts.reduce((at, part) => (out.set(part, at), at + part.length), 0);
	return out;
};
const xof = (tag, seed, binder) => { // XofTurboShake128; the next n bytes, n a multiple of 8
	const s = new Int32Array(50), bytes = new Uint8Array(s.buffer);
	const message = join([tag.length & 255, tag.length >> 8], tag, [seed.length], seed, binder, [1]);
	const last = message.length - 1, words = new Int32Array(RATE / 4), block = new Uint8Array(words.buffer);
	for (let at = 0; at <= last; at += RATE) {
		const part = message.subarray(at, at + RATE);
		block.fill(0).set(part);
		for (let i = 0; i < 42; i++) s[i] ^= words[i];
		if (at + RATE > last) bytes[RATE - 1] ^= 128;
		keccak(s);
	}
	let at = 0;
	return n => {
		const out = new Uint8Array(n);
		for (let i = 0; i < n; i += 8, at += 8) {
			if (at === RATE) keccak(s), (at = 0);
			out.set(bytes.subarray(at, at + 8), i);
		}
		return out;
	};
};
// circuit: {kind, length, chunk, largest, most} as in the task; context: the task's digest.
export function prio3(circuit, context, shares = 2) {
	const kind = KINDS.indexOf(circuit.kind), { length = 1, chunk = 1 } = circuit, joint = kind > SUM;
	if (kind < 1) throw new Error("this page does not know the poll's kind");
	const largest = circuit.largest ?? circuit.most ?? 1, bits = 32 - Math.clz32(largest), size = joint ? 16 : 8;
	const P = joint ? (1n << 66n) * 4611686018427387897n + 1n : (1n << 32n) * 4294967295n + 1n;
	const inputs = [0, 1, bits, length * bits, length, length + bits][kind];
	const calls = joint ? Math.ceil(inputs / chunk) : inputs, arity = joint ? 2 * chunk : 3 - kind;
	const mod = x => ((x %= P) < 0n ? x + P : x);
	const power = (a, e) => {
		let r = 1n;
		for (; e; e >>= 1n, a = (a * a) % P) if (e & 1n) r = (r * a) % P;
		return r;
	};
	let n = 1;
	while (n <= calls) n *= 2;
	const root = power(7n, (P - 1n) / BigInt(2 * n)), roots = [1n], overN = power(BigInt(n), P - 2n);
	while (roots.length < 2 * n) roots.push((roots.at(-1) * root) % P);
	const tag = usage => join([18, 0, 0, 0, 0, kind, 0, usage], context);
	const encode = values => {
		const out = new BigUint64Array((values.length * size) / 8); // words of the machine: little-endian everywhere
		values.forEach((x, i) => (joint ? ((out[2 * i] = x), (out[2 * i + 1] = x >> 64n)) : (out[i] = x)));
		return new Uint8Array(out.buffer);
	};
	const expand = (usage, seed, binder, count) => {
		const next = xof(tag(usage), seed, binder), out = [];
		while (out.length < count) {
			const [low, high = 0n] = new BigUint64Array(next(size).buffer), x = (high << 64n) | low;
			if (x < P) out.push(x);
		}
		return out;
	};
	const less = (a, b) => a.map((x, i) => (x < b[i] ? x - b[i] + P : x - b[i]));
	const transform = (v, step = 1) => { // values at the powers of a root; recursive, the sizes are small
		const half = v.length / 2, out = Array(v.length);
		if (half < 1) return v;
		const even = transform(v.filter((_, i) => !(i & 1)), 2 * step), odd = transform(v.filter((_, i) => i & 1), 2 * step);
		for (let i = 0; i < half; i++) {
			const y = (odd[i] * roots[2 * i * step]) % P;
			(out[i] = mod(even[i] + y)), (out[i + half] = mod(even[i] - y));
		}
		return out;
	};
	const prove = (measurement, seeds, rands) => {
		const wires = seeds.map(seed => [seed, ...Array(n - 1).fill(0n)]);
		for (let k = 0; k < calls; k++) {
			if (!joint) wires.forEach(wire => (wire[k + 1] = measurement[k]));
			else for (let j = 0, r = rands[k]; j < chunk; j++, r = (r * rands[k]) % P) {
				const x = measurement[k * chunk + j] ?? 0n;
				(wires[2 * j][k + 1] = r * x), (wires[2 * j + 1][k + 1] = x ? 0n : P - 1n); // x is 0 or 1
			}
		}
		const odd = wires.map(wire => {
			const c = transform(wire);
			return transform(c.map((_, i) => (((c[(n - i) % n] * roots[i]) % P) * overN) % P));
		});
		const polynomial = Array.from({ length: 2 * n - 1 }, (_, i) => {
			const v = (i & 1 ? odd : wires).map(wire => wire[i >> 1]);
			if (kind === SUM) return mod(v[0] * v[0] - v[0]);
			let z = 0n;
			for (let j = 0; j < arity; j += 2) z += v[j] * v[j + 1];
			return mod(z);
		});
		return [...seeds, ...polynomial];
	};
	const ranged = x => { // bits whose weights make every number up to the largest and no other
		const reach = 2 ** (bits - 1) - 1, last = +(x > reach), rest = x - last * (largest - reach);
		return Array.from({ length: bits }, (_, i) => (i === bits - 1 ? last : (rest >> i) & 1));
	};
	const allowed = (x, most) => Number.isInteger(x) && x >= 0 && x <= most;
	const input = answer => {
		const list = [answer].flat().map(Number), marks = list.reduce((a, b) => a + b, 0);
		const most = kind === HISTOGRAM ? length - 1 : kind > HISTOGRAM ? 1 : largest;
		const count = kind === 3 || kind === 5 ? length : 1;
		if (list.length !== count || !list.every(x => allowed(x, most)) || (kind === 5 && marks > largest))
			throw new Error("this is not one of the answers");
		if (kind === 1) return list;
		if (kind === HISTOGRAM) return Array.from({ length }, (_, i) => +(i === list[0]));
		return kind === 5 ? [...list, ...ranged(marks)] : list.flatMap(ranged);
	};
	// [public share, first share, seeds of each other collector]
	const shard = (answer, nonce, rand) => {
		const measurement = input(answer).map(BigInt), parts = [], helpers = [];
		let at = 0, mine = measurement, blind = [];
		const seed = () => rand.subarray(at, (at += SEED));
		const part = (who, key, share) => xof(tag(7), key, join([who], nonce, encode(share)))(SEED);
		for (let a = 1; a < shares; a++) {
			const first = seed(), share = expand(1, first, [a], inputs), second = joint ? seed() : [];
			mine = less(mine, share);
			helpers.push(join(first, second));
			if (joint) parts.push(part(a, second, share));
		}
		if (joint) (blind = seed()), parts.unshift(part(0, blind, mine));
		const common = join(...parts), rands = joint ? expand(3, xof(tag(6), new Uint8Array(SEED), common)(SEED), [1], calls) : [];
		let proof = prove(measurement, expand(4, seed(), [1], arity), rands);
		helpers.forEach((key, i) => (proof = less(proof, expand(2, key.subarray(0, SEED), [1, i + 1], proof.length))));
		return [common, join(encode(mine), encode(proof), blind), ...helpers];
	};
	return { shard, size: SEED * shares * (joint ? 2 : 1) };
}
