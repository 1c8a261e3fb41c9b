// The conversations that are kept, and the one that is open.

import { read, trouble } from "./door_api.js";
import { byId, make } from "./elements.js";
import { showBase } from "./kb_list.js";
import { state } from "./page_state.js";
import { Turn } from "./question_turn.js";
import { count, line } from "./shown_text.js";
import { closeSource } from "./source_panel.js";

export async function loadThreads() {
  const { threads } = await read("api/threads");
  const items = threads.map((thread) => {
    const button = make("button", { type: "button", title: count(thread.turns, "turn") }, line(thread.name));
    button.setAttribute("aria-current", String(thread.name === state.thread));
    button.onclick = () => openThread(thread);
    return make("li", {}, button);
  });
  byId("threads").replaceChildren(...items);
}

function showThread(name) {
  state.thread = name;
  state.history = [];
  byId("title").textContent = name ? line(name) : "New conversation";
  byId("keep").hidden = Boolean(name);
  for (const turn of [...byId("turns").querySelectorAll(".turn, .trouble")]) turn.remove();
  byId("welcome").hidden = false;
  closeSource();
  byId("side").classList.remove("open");
}

async function openThread(thread) {
  state.asking?.abort();
  showThread(thread.name);
  if (thread.kb) byId("kb").value = state.kb = thread.kb;
  showBase();
  byId("welcome").hidden = true;
  try {
    const { turns } = await read(`api/threads/${encodeURIComponent(thread.name)}`);
    turns.forEach((turn, at) => {
      if (turn.role === "user") showKept(turn.content, turns[at + 1]);
    });
    await loadThreads();
  } catch (error) {
    byId("turns").append(trouble(error));
  }
  byId("turns").scrollTop = byId("turns").scrollHeight;
  byId("question").focus();
}

/** A question of a kept conversation; its answer is shown with its sources if that was kept. */
function showKept(question, reply) {
  const turn = new Turn(question, state.kb);
  turn.path.element.hidden = true;
  if (reply?.answer) turn.finish(reply.answer);
  else if (reply) turn.write(reply.content, []);
  byId("turns").append(turn.element);
}

/** Keep the questions from now on under the name that was given. */
function keepThread() {
  state.thread = byId("keeping-name").value.trim();
  byId("title").textContent = line(state.thread);
  byId("keep").hidden = true;
}

export function watchConversations() {
  byId("new").onclick = () => {
    state.asking?.abort();
    showThread("");
    loadThreads();
    byId("question").focus();
  };
  byId("keep").onclick = () => byId("keeping").showModal();
  byId("keeping-no").onclick = () => byId("keeping").close();
  byId("keeping-form").onsubmit = keepThread;
}
