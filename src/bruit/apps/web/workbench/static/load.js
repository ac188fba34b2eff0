// Sends a file as it is, in one stream, and shows how much of it is sent.

const form = document.getElementById("load");
const progress = document.getElementById("progress");
const refused = document.getElementById("refused");
const button = form.querySelector("button");

function send(file) {
  const request = new XMLHttpRequest();
  request.open("POST", `/workbench/tables?name=${encodeURIComponent(file.name)}`);
  request.setRequestHeader("x-csrf-token", document.querySelector("meta[name=csrf]").content);
  request.responseType = "json";
  request.upload.addEventListener("progress", (event) => { progress.value = event.loaded / event.total; });
  request.addEventListener("load", () => {
    if (request.status === 201) location.assign(request.response.address);
    else fail(request.response?.detail ?? "The file was not loaded.");
  });
  request.addEventListener("error", () => fail("The connection broke before the file was sent."));
  request.send(file);
}

function fail(sentence) {
  refused.textContent = sentence;
  progress.classList.add("hidden");
  button.disabled = false;
}

const drop = document.getElementById("drop");
const input = document.getElementById("file");

for (const kind of ["dragenter", "dragover"]) {
  drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
}
for (const kind of ["dragleave", "drop"]) {
  drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.remove("over"); });
}
drop.addEventListener("drop", (event) => {
  if (event.dataTransfer.files.length) {
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  }
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  refused.textContent = "";
  progress.classList.remove("hidden");
  button.disabled = true;
  send(input.files[0]);
});
