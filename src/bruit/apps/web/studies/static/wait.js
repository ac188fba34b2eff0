// Shows what a study found once its run has ended.

const WAIT = 1000;
const { address } = document.getElementById("running").dataset;

async function look() {
  const { state } = await (await fetch(address)).json();
  if (state === "running") setTimeout(look, WAIT);
  else location.reload();
}

setTimeout(look, WAIT);
