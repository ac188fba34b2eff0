// Loads the changing part of the page again whenever a period was published.
const live = document.getElementById("live");
const line = document.getElementById("line");
const { about } = live.dataset;

const load = async period => {
	const answer = await fetch(`/streams/live?${about}`);
	if (!answer.ok) return;
	const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
	live.replaceChildren(...parsed.body.childNodes);
	live.dataset.period = period;
	line.textContent = `Period ${period} has been published.`;
};

const source = new EventSource(`/streams/events?${about}`);
source.addEventListener("period", event => {
	if (event.data === live.dataset.period) line.textContent = "";
	else load(event.data);
});
source.onerror = () => (line.textContent = "Waiting for the server…");
