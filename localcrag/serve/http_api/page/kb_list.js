// The knowledge bases, and the documents of the chosen one.

import { read, trouble } from "./door_api.js";
import { byId, make } from "./elements.js";
import { state } from "./page_state.js";
import { count, fileName, line } from "./shown_text.js";

export async function loadBases() {
  const found = await read("api/knowledge-bases");
  state.bases = found.knowledge_bases;
  const names = state.bases.map((base) => base.name);
  if (!names.includes(found.default)) names.unshift(found.default);
  if (!names.includes(state.kb)) state.kb = found.default;
  byId("kb").replaceChildren(...names.map((name) => make("option", { value: name }, line(name))));
  byId("kb").value = state.kb;
  showBase();
}

export function showBase() {
  const base = state.bases.find((one) => one.name === state.kb);
  byId("kb-facts").textContent = base ? `${count(base.documents, "document")}, ${count(base.passages, "passage")}` : "nothing in it yet";
  byId("fields").replaceChildren(...(base?.fields ?? []).map((name) => make("option", { value: `${name} = ` })));
  byId("dropping-kb").textContent = state.kb;
  byId("documents").disabled = !base;
}

async function showDocuments() {
  const body = byId("held-body");
  byId("held-title").textContent = `Documents of ${state.kb}`;
  body.replaceChildren(make("p", { className: "quiet" }, "Reading the list …"));
  byId("held").showModal();
  try {
    const { documents, skipped } = await read(`api/knowledge-bases/${encodeURIComponent(state.kb)}/documents`);
    const held = documents.map((one) => make("li", {}, fileName(one.source), make("br"), make("span", { className: "quiet small" }, line(one.source))));
    const left = skipped.map((one) => make("li", {}, fileName(one.source), make("br"), make("span", { className: "quiet small" }, line(one.reason))));
    body.replaceChildren(make("ul", {}, ...held));
    if (left.length) body.append(make("h3", {}, `Could not be read: ${left.length}`), make("ul", {}, ...left));
  } catch (error) {
    body.replaceChildren(trouble(error));
  }
}

export function watchBases() {
  byId("kb").onchange = () => {
    state.kb = byId("kb").value;
    showBase();
  };
  byId("documents").onclick = showDocuments;
  byId("held-close").onclick = () => byId("held").close();
}
