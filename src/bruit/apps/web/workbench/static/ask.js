// Shows the fields of the chosen way to ask, and sends a payment once.

const modes = document.querySelectorAll("input[name=mode]");

function fit() {
  const chosen = document.querySelector("input[name=mode]:checked").value;
  for (const part of document.querySelectorAll("[data-mode]")) {
    const needed = part.dataset.mode === chosen;
    part.hidden = !needed;
    for (const input of part.querySelectorAll("input, select, textarea")) input.disabled = !needed;
  }
}

for (const mode of modes) mode.addEventListener("change", fit);
fit();
document.getElementById("pay")?.addEventListener("submit", (event) => {
  event.target.querySelector("button").disabled = true;
});
