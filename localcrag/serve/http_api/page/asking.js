// Asking: the options of a question, the question itself, and the consent to a line for the web.

import { answerForm, openForm, showForm, watchForm } from "./answer_form.js";
import { loadThreads } from "./conversation_list.js";
import { ProblemError, eventsOf, post } from "./door_api.js";
import { byId } from "./elements.js";
import { state } from "./page_state.js";
import { Turn } from "./question_turn.js";
import { line, shown } from "./shown_text.js";

const MAX_HISTORY_TURNS = 12;

/** The options of the next question. Throws ProblemError if the form of its answer is none. */
function optionsOf() {
  const value = (id) => byId(id).value.trim() || null;
  const chosen = { policy: value("policy"), mode: value("mode"), model: value("model"), filter: value("filter"), web: byId("web").value };
  const form = answerForm();
  return form ? { ...chosen, output: form } : chosen;
}

function showAsking(controller) {
  state.asking = controller;
  byId("send").hidden = Boolean(controller);
  byId("stop").hidden = !controller;
}

/** Ask, and show what happens in a turn of its own. */
async function ask(question) {
  const turn = new Turn(question, state.kb);
  byId("welcome").hidden = true;
  byId("turns").append(turn.element);
  turn.element.scrollIntoView({ block: "start" });
  const controller = new AbortController();
  showAsking(controller);
  turn.path.words.textContent = "Starting …";
  let answer = null;
  try {
    const history = state.history.slice(-MAX_HISTORY_TURNS);
    const body = { kb: state.kb, question, options: optionsOf(), history, thread: state.thread };
    const reply = await post("api/ask", body, { signal: controller.signal, headers: { Accept: "text/event-stream" } });
    for await (const [name, event, id] of eventsOf(reply)) {
      if (name === "error") throw new ProblemError(event);
      if (name === "finished") turn.report = id;
      if (name === "consent") askConsent(event);
      else turn.show(name, event);
      if (name === "finished") answer = event;
    }
    if (!answer) throw new ProblemError({ detail: "the answer was cut off", hint: "ask again" });
    if (state.thread) await loadThreads();
    else state.history.push({ role: "user", content: question }, { role: "assistant", content: answer.answer });
  } catch (error) {
    turn.fail(error, () => {
      turn.element.remove();
      ask(question);
    });
  } finally {
    byId("consent").close();
    showAsking(null);
  }
}

/** Show the exact line, and send what the person decides; closing the dialog is a no. */
function askConsent({ id, query }) {
  const dialog = byId("consent");
  byId("consent-line").textContent = shown(query);
  let decided = false;
  const decide = (allow) => {
    if (decided) return;
    decided = true;
    dialog.close();
    post(`api/consents/${encodeURIComponent(id)}`, { allow }).catch(() => {});
  };
  byId("consent-yes").onclick = () => decide(true);
  byId("consent-no").onclick = () => decide(false);
  dialog.onclose = () => decide(false);
  dialog.showModal();
  byId("consent-no").focus();
}

function showChoices() {
  const chosen = ["policy", "mode", "model", "filter"].map((id) => byId(id).value.trim()).filter(Boolean);
  if (byId("web").value === "ask") chosen.push("web: ask me");
  byId("how-words").textContent = chosen.map(line).join(" · ");
}

/** Make the box of the question as high as its text. */
export function fitQuestion() {
  const box = byId("question");
  box.style.height = "auto";
  if (box.scrollHeight) box.style.height = `${box.scrollHeight}px`; // 0 as long as the page is not shown yet
}

function submit(event) {
  event.preventDefault();
  const question = byId("question").value.trim();
  if (!question || state.asking) return;
  if (!showForm()) {
    openForm();
    return;
  }
  byId("question").value = "";
  fitQuestion();
  ask(question);
}

export function watchAsking() {
  watchForm();
  byId("composer").onsubmit = submit;
  byId("composer").onchange = showChoices;
  byId("question").oninput = fitQuestion;
  byId("question").onkeydown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  byId("stop").onclick = () => state.asking?.abort();
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) {
      event.preventDefault();
      byId("question").focus();
    }
  });
}
