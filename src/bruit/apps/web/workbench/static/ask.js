// Shows the fields that the chosen statistic needs, and sends a payment once.

const statistic = document.getElementById("statistic");

function fit() {
  for (const field of document.querySelectorAll("[data-for]")) {
    const needed = field.dataset.for.split(" ").includes(statistic.value);
    field.hidden = !needed;
    for (const input of field.querySelectorAll("input, select")) input.disabled = !needed;
  }
}

statistic.addEventListener("change", fit);
fit();
document.getElementById("pay")?.addEventListener("submit", (event) => {
  event.target.querySelector("button").disabled = true;
});
