// The page of localcrag: ask, watch the loop, look at the sources. Whatever comes from documents, models or
// the web becomes text (textContent), never markup. Here it begins: the token, the status, the colours.

import { watchFiles } from "./adding_files.js";
import { watchAsking, fitQuestion } from "./asking.js";
import { loadThreads, watchConversations } from "./conversation_list.js";
import { read } from "./door_api.js";
import { byId, make } from "./elements.js";
import { loadBases, watchBases } from "./kb_list.js";
import { state } from "./page_state.js";
import { line } from "./shown_text.js";
import { watchSource } from "./source_panel.js";

function showDoor(words) {
  byId("frame").hidden = true;
  byId("door").hidden = false;
  byId("door-words").textContent = `${words} Open the address that localcrag serve --http printed, or paste the token that stands in it behind #token=.`;
}

function showStatus() {
  const { status } = state;
  byId("privacy").textContent = status.offline
    ? "Offline: every connection is refused."
    : status.web ? "The web is asked only if you allow it, line by line." : "Nothing leaves this machine.";
  byId("models").textContent = `${line(status.models.language)} · ${line(status.models.evaluator)} · ${line(status.version)}`;
  byId("model").append(...status.models.available.map((name) => make("option", { value: name }, line(name))));
  byId("web").disabled = !status.web;
  byId("add").disabled = status.read_only;
  byId("welcome-hint").hidden = status.read_only;
}

function chooseTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("theme", theme);
  byId("theme").value = theme;
}

function watchFrame() {
  byId("menu").onclick = () => byId("menu").setAttribute("aria-expanded", String(byId("side").classList.toggle("open")));
  byId("main").addEventListener("click", (event) => {
    if (!event.target.closest("#menu")) byId("side").classList.remove("open");
  });
  byId("theme").onchange = () => chooseTheme(byId("theme").value);
  byId("door-form").onsubmit = (event) => {
    event.preventDefault();
    keepToken(byId("token").value.trim());
    start();
  };
  addEventListener("tokenrefused", () => showDoor("The token is missing or no longer right."));
}

function keepToken(token) {
  state.token = token;
  sessionStorage.setItem("token", token);
}

async function start() {
  if (!state.token) return showDoor("This page needs a token.");
  try {
    state.status = await read("api/status");
    await Promise.all([loadBases(), loadThreads()]); // before the frame is there: files may be dropped on it at once
    byId("door").hidden = true;
    byId("frame").hidden = false;
    showStatus();
    byId("question").focus();
  } catch (error) {
    if (error.problem?.status !== 401) showDoor(`${line(error.message)}.`);
  }
}

const handed = new URLSearchParams(location.hash.slice(1)).get("token");
if (handed) history.replaceState(null, "", location.pathname);
keepToken(handed ?? sessionStorage.getItem("token") ?? "");
chooseTheme(localStorage.getItem("theme") ?? "");
watchFrame();
watchSource();
watchBases();
watchConversations();
watchFiles();
watchAsking();
fitQuestion();
start();
