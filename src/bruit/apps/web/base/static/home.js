// A poll to try: your answer and those of made-up people pass the law of the chosen ε, all of it in this page.
import { randomise } from "../polls/client.js";
import { phrase, show } from "../polls/noise.js";

const $ = id => document.getElementById(id);
const polls = JSON.parse($("polls").textContent);
const chosen = () => polls[document.querySelector("[name=epsilon]:checked").value];
let mine = "";

const answer = () => {
  const poll = chosen(), { protocol, labels } = poll;
  $("own").hidden = false;
  $("mine").textContent = labels[protocol.categories.indexOf(mine)];
  const place = protocol.categories.indexOf(mine), sent = randomise(protocol, mine);
  $("sent").textContent = labels[sent];
  $("coin").hidden = false;
  const said = sent === place ? $("coin").dataset.same : $("coin").dataset.turned;
  $("coin").textContent = phrase(said, { sent: labels[sent], others: Math.round(100 * poll.law.false) });
  show($("crowd"), poll, $("said"));
};

for (const button of document.querySelectorAll("[data-answer]")) {
  button.onclick = () => {
    mine = button.dataset.answer;
    answer();
  };
}
for (const choice of document.querySelectorAll("[name=epsilon]")) choice.onchange = () => mine && answer();
