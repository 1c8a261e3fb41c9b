// The panel that shows a cited place: as text, or as a picture of the page.

import { call, read, trouble } from "./door_api.js";
import { byId, make } from "./elements.js";
import { state } from "./page_state.js";
import { fileName, line, place, shown } from "./shown_text.js";

const CONTEXT_CHARACTERS = 3000;
const NARROW_PIXELS = 460; // a panel in which a whole page would be too small to read

export async function openSource(turn, key, opener) {
  const cited = turn.evidence.get(key);
  if (!cited) return;
  closeSource();
  state.opener = opener;
  opener.setAttribute("aria-expanded", "true");
  byId("frame").classList.add("with-source");
  byId("source").hidden = false;
  byId("source-title").textContent = line(cited.passage?.title) || fileName(cited.source);
  byId("source-place").textContent = `${key} · ${place(cited)}${cited.origin === "web" ? " (from the web)" : ""}`;
  byId("source-tabs").hidden = true;
  byId("source-body").replaceChildren(make("p", { className: "quiet" }, "Opening …"));
  byId("source-title").focus();
  const query = new URLSearchParams({ kb: turn.kb, source: cited.source, start: cited.start, end: cited.end });
  if (cited.page) query.set("page", cited.page);
  try {
    if (cited.origin === "web") showText(withinPassage(cited));
    else await showPlace(query, opener);
  } catch (error) {
    if (state.opener === opener) showText(withinPassage(cited), error);
  }
}

async function showPlace(query, opener) {
  const found = await read(`api/citations/text?${query}`);
  if (state.opener !== opener) return;
  if (!found.picture) {
    showText(found);
    return;
  }
  const picture = await (await call(`api/citations/page?${query}`)).blob();
  if (state.opener !== opener) return;
  const image = make("img", { src: URL.createObjectURL(picture), alt: `${found.page ? `Page ${found.page} of ` : ""}${line(found.title)}, with the quoted words boxed` });
  image.onload = () => {
    URL.revokeObjectURL(image.src);
    zoom(image, byId("source-body").clientWidth < NARROW_PIXELS);
  };
  image.onclick = () => zoom(image, !image.classList.contains("large"));
  const choose = (page) => {
    byId("show-page").setAttribute("aria-pressed", String(page));
    byId("show-text").setAttribute("aria-pressed", String(!page));
    if (page) byId("source-body").replaceChildren(image);
    else showText(found);
  };
  byId("source-tabs").hidden = false;
  byId("show-page").onclick = () => choose(true);
  byId("show-text").onclick = () => choose(false);
  choose(true);
}

/** Show a page in another size, with its boxed words in view. */
function zoom(image, large) {
  image.classList.toggle("large", large);
  const box = boxedPlace(image);
  if (!box) return;
  const [body, scale] = [byId("source-body"), image.clientWidth];
  body.scrollTo({ top: image.offsetTop - body.offsetTop + (box.y * scale) - body.clientHeight / 3, left: box.x * scale - 24 });
}

/** The upper left corner of the boxes on a page, as shares of its width; null if there is none. */
function boxedPlace(image) {
  const [width, height] = [400, Math.round((400 * image.naturalHeight) / image.naturalWidth)];
  const context = make("canvas", { width, height }).getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  let [x, y] = [width, -1];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] < 200 || data[at] - data[at + 2] < 60 || data[at + 1] < 170) continue;
    if (y < 0) y = Math.floor(at / 4 / width);
    x = Math.min(x, (at / 4) % width);
  }
  return y < 0 ? null : { x: x / width, y: y / width };
}

/** The quote within the passage that the answer was made from. */
function withinPassage(cited) {
  const { passage } = cited;
  if (!passage) return { before: "", quote: cited.quote, after: "" };
  const points = Array.from(passage.text);
  const [start, end] = [cited.start - passage.start, cited.end - passage.start];
  return { before: points.slice(0, start).join(""), quote: cited.quote, after: points.slice(end).join("") };
}

function showText(found, error = null) {
  const mark = make("mark", {}, shown(found.quote));
  const before = Array.from(found.before).slice(-CONTEXT_CHARACTERS).join("");
  const after = Array.from(found.after).slice(0, CONTEXT_CHARACTERS).join("");
  const text = make("div", { className: "passage" }, shown(before), mark, shown(after));
  byId("source-body").replaceChildren(text);
  if (error) byId("source-body").prepend(trouble(error));
  else if (found.note && found.page) byId("source-body").prepend(make("p", { className: "quiet small" }, `${line(found.note)}.`));
  mark.scrollIntoView({ block: "center" });
}

export function closeSource() {
  if (!state.opener) return;
  state.opener.setAttribute("aria-expanded", "false");
  state.opener.focus();
  state.opener = null;
  byId("source").hidden = true;
  byId("frame").classList.remove("with-source");
}

export function watchSource() {
  byId("source-close").onclick = closeSource;
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) closeSource();
  });
}
