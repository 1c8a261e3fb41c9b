// Files that are added to a knowledge base, chosen or dropped.

import { ProblemError, call, eventsOf, trouble } from "./door_api.js";
import { byId, make, say } from "./elements.js";
import { loadBases } from "./kb_list.js";
import { state } from "./page_state.js";
import { count, fileName, line } from "./shown_text.js";

async function ingest(files) {
  if (!files.length || state.status?.read_only) return;
  const [progress, words, skips] = [byId("intake-progress"), byId("intake-words"), byId("intake-skips")];
  const tell = (text) => {
    words.textContent = text;
  };
  const skipped = ({ source, reason }) => skips.append(make("li", {}, `${fileName(source)}: ${line(reason)}`));
  let [done, all] = [0, files.length];
  skips.replaceChildren();
  progress.hidden = false;
  progress.removeAttribute("value");
  byId("intake").hidden = false;
  tell(`Sending ${count(files.length, "file")} to ${state.kb} …`);
  say("Adding files");
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  try {
    const reply = await call(`api/knowledge-bases/${encodeURIComponent(state.kb)}/documents`, { method: "POST", body: form });
    for await (const [name, event] of eventsOf(reply)) {
      if (name === "error") throw new ProblemError(event);
      if (name === "discovered") all = event.sources;
      if (name === "processing") tell(`${event.step} ${fileName(event.source)} …`);
      if (name === "skipped_source") skipped(event.skipped);
      if (name === "optimizing") tell("Updating the index …");
      if (name === "progressed") {
        done += 1;
        progress.value = done / Math.max(all, 1);
        tell(`${done} of ${count(all, "file")} read`);
      }
      if (name === "ingested") tell(ingestedWords(event));
    }
    say(words.textContent);
    await loadBases();
  } catch (error) {
    skips.append(make("li", {}, trouble(error)));
    tell("");
  }
  progress.hidden = true;
}

function ingestedWords(report) {
  const parts = [
    report.added && `${count(report.added, "document")} added`,
    report.changed && `${report.changed} changed`,
    report.unchanged && `${report.unchanged} known already`,
    report.skipped.length && `${report.skipped.length} not read`,
  ];
  return `${parts.filter(Boolean).join(", ") || "nothing to add"}.`;
}

function watchDrops() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files") && !state.status?.read_only;
  let depth = 0;
  const show = (change) => {
    depth = Math.max(0, change ? depth + change : 0);
    byId("dropping").hidden = depth === 0;
  };
  addEventListener("dragenter", (event) => hasFiles(event) && show(1));
  addEventListener("dragleave", (event) => hasFiles(event) && show(-1));
  addEventListener("dragover", (event) => {
    byId("dropping").hidden = depth === 0 || event.defaultPrevented; // something of the page takes them itself
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    show(0);
    if (!hasFiles(event) || event.defaultPrevented) return;
    event.preventDefault();
    ingest([...event.dataTransfer.files]);
  });
}

export function watchFiles() {
  byId("add").onclick = () => byId("files").click();
  byId("files").onchange = () => {
    ingest([...byId("files").files]);
    byId("files").value = "";
  };
  byId("intake-close").onclick = () => (byId("intake").hidden = true);
  watchDrops();
}
