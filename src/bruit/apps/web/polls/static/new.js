// Shows only the fields that belong to the chosen kind of answer.
const form = document.getElementById("new");
const show = () => {
  const { kind, again } = Object.fromEntries(new FormData(form));
  for (const part of form.querySelectorAll("[data-for]")) {
    part.classList.toggle("hidden", !part.dataset.for.split(" ").includes(kind));
  }
  const rounds = form.querySelector("[name=again][value=yes]");
  rounds.disabled = kind === "number" || kind === "open";
  if (rounds.disabled) rounds.checked = false;
  form.querySelector("[data-again]").classList.toggle("hidden", again !== "yes");
};
form.addEventListener("change", show);
show();
