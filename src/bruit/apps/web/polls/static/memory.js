// What this device keeps of a poll. One transaction reads and writes, and IndexedDB lets no other in meanwhile: whichever
// tab comes first draws, the others find what it kept.
const opened = new Promise((done, fail) => {
	const asked = indexedDB.open("bruit polls", 1);
	asked.onupgradeneeded = () => ["sealed", "noise"].map(name => asked.result.createObjectStore(name));
	asked.onsuccess = () => done(asked.result);
	asked.onerror = fail;
});
opened.catch(() => {});
const changing = async work => {
	const change = (await opened).transaction(["sealed", "noise"], "readwrite", { durability: "strict" });
	return new Promise((done, fail) => {
		const found = {};
		change.oncomplete = () => done(found.kept);
		change.onabort = fail;
		work(change.objectStore("sealed"), change.objectStore("noise"), found);
	});
};
// The sealed report of a round; where there is none and `draw` is given, draw(memory) makes it: kept before it is sent.
export const remember = (id, round, draw) => changing((sealed, noise, found) => {
	sealed.get([id, round]).onsuccess = ({ target }) => {
		found.kept = target.result;
		if (found.kept || !draw) return;
		noise.get(id).onsuccess = ({ target: { result: memory = {} } }) => {
			sealed.delete(IDBKeyRange.bound([id], [id, round]));
			sealed.add((found.kept = { body: draw(memory) }), [id, round]);
			if (Object.keys(memory).length) noise.put(memory, id);
		};
	};
});
export const settle = (id, round, body) => changing(sealed => sealed.put({ body, done: true }, [id, round]));
// The value that stands under a name; where none does and one is given, that one.
export const once = (name, value) => changing((_, noise, found) => {
	noise.get(name).onsuccess = ({ target }) => {
		found.kept = target.result ?? value;
		if (!target.result && value) noise.add(value, name);
	};
});
