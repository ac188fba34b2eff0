// Shows the fields that the type of a column has; what is hidden is not sent.

function fit(line) {
  const kind = line.querySelector("[data-kind]").value;
  for (const field of line.querySelectorAll("[data-type]")) {
    const needed = field.dataset.type.split(" ").includes(kind);
    field.hidden = !needed;
    for (const input of field.querySelectorAll("input, textarea")) input.disabled = !needed;
  }
}

for (const line of document.querySelectorAll("[data-line]")) {
  line.querySelector("[data-kind]").addEventListener("change", () => fit(line));
  fit(line);
}
