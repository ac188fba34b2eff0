// Shows how far a synthetic table is, and the table once it is made.

const WAIT = 500;
const { address } = document.getElementById("making").dataset;
const bar = document.getElementById("progress");
const said = document.getElementById("said");

async function look() {
  const { done, steps, ended } = await (await fetch(address)).json();
  if (ended) {
    location.reload();
    return;
  }
  if (steps) {
    bar.max = steps;
    bar.value = done;
    said.textContent = done < steps ? `${done} of ${steps} noisy counts are taken.` : "All counts are taken; it is kept.";
  }
  setTimeout(look, WAIT);
}

look();
