// Proves in whole numbers that a law loses no more than the ε shown beside it: weights out of 2^52 against e^ε, which
// the partial sums of its series bound from below. One part in 2^52 too much is found.
const ONE = 1n << 52n, TERMS = 150n;
const fraction = text => {
	const [top, places = ""] = text.split(".");
	return [BigInt(top + places), 10n ** BigInt(places.length)];
};
// (top / bottom)^times <= e^(a/b), whichever of the two weights is larger
const within = (top, bottom, epsilon, times = 1) => {
	if (top < bottom) [top, bottom] = [bottom, top];
	const [a, b] = fraction(epsilon), power = BigInt(times);
	let whole = 1n, j;
	for (j = 1n; j <= TERMS; j++) whole *= b * j;
	let sum = whole, term = whole;
	for (j = 1n; j <= TERMS; j++) sum += term = (term * a) / (b * j); // exact: b^TERMS TERMS! divides
	return bottom > 0n && top ** power * whole <= bottom ** power * sum;
};
const symmetric = ({ size, keep, other, out_of }) => {
	const [k, a, b] = [size, keep, other].map(BigInt);
	if (BigInt(out_of) !== ONE || a + (k - 1n) * b !== ONE || b <= 0n || a <= b) throw 0;
	return [k, a, b];
};
const bits = (one, other, all) => [one * (all - other), other * (all - one)];
const laws = {
	KRR: ({ law, categories }, once) => {
		const [k, a, b] = symmetric(law);
		return k === BigInt(categories?.length ?? 2) && within(a, b, once);
	},
	OUE: ({ law }, once) => within(...bits(BigInt(law.true), BigInt(law.false), ONE), once),
	LongitudinalKRR: ({ law, categories }, once, always) => {
		const [k, a, b] = symmetric(law.permanent), [l, c, d] = symmetric(law.instantaneous);
		if (k !== l || k !== BigInt(categories.length)) return false;
		const moved = a * d + b * c + (k - 2n) * b * d;
		return within(a, b, always) && within(ONE * ONE - (k - 1n) * moved, moved, once);
	},
	LongitudinalOUE: ({ law }, once, always) => {
		const [, c, d] = symmetric(law.instantaneous), first = law.permanent.map(BigInt);
		const [yes, no] = first.map(one => one * c + (ONE - one) * d);
		return within(...bits(...first, ONE), always) && within(...bits(yes, no, ONE * ONE), once);
	},
	Rappor: ({ law }, once, always) => {
		const [lie, keep] = law.ones.permanent.map(BigInt), [no, yes] = law.ones.instantaneous.map(BigInt);
		if (lie + keep !== ONE || yes > ONE) return false;
		const ones = [keep * yes + lie * no, keep * no + lie * yes];
		const top = ones[0] * (ONE * ONE - ones[1]), bottom = ones[1] * (ONE * ONE - ones[0]);
		return within(keep, lie, always ?? once, 2 * law.hashes) && within(top, bottom, once, law.hashes);
	},
};
laws.Warner = laws.OneBitMean = laws.KRR;
// Whether one report costs at most `once` and, in a poll that may ask again, all of one answer at most `always`.
export const keepsPromise = (protocol, once, always) => {
	try {
		return laws[protocol.protocol](protocol, once, always);
	} catch {
		return false;
	}
};
