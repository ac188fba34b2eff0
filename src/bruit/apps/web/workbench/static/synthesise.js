// Asks for the number of rows only where it is public, and sends a payment once.

const kind = document.getElementById("rows_are");
const size = document.getElementById("size");

function fit() {
  const needed = kind.value === "public";
  size.closest(".field").hidden = !needed;
  size.disabled = !needed;
  size.required = needed;
}

kind.addEventListener("change", fit);
fit();
document.getElementById("pay")?.addEventListener("submit", (event) => {
  event.target.querySelector("button").disabled = true;
});
