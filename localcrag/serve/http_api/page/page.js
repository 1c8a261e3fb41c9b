// The page of localcrag: ask, watch the loop, look at the sources. Whatever comes from documents, models or
// the web becomes text (textContent), never markup.

const byId = (id) => document.getElementById(id);
const state = { token: "", kb: "", bases: [], status: null, thread: "", history: [], asking: null, opener: null };
const MAX_HISTORY_TURNS = 12;
const CONTEXT_CHARACTERS = 3000;
const NARROW_PIXELS = 460; // a panel in which a whole page would be too small to read

// ---------------------------------------------------------------- elements and text

/** An element with properties, data and children; a string becomes a text node. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
const ICONS = {
  answered: "M5 12.5l4.5 4.5L19 7.5",
  unsure: "M12 4v10M12 19v.01",
  not_found: "M6 6l12 12M18 6L6 18",
  truncated: "M6 12h.01M12 12h.01M18 12h.01",
};

function drawn(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function icon(path) {
  const picture = drawn("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  picture.append(drawn("path", { d: path }));
  return picture;
}

const BLANKED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
const HIDDEN = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+|(?<![^\u0000-\u007f])[\u200c\u200d]+/gu;
const BRACKETED = /[[［【〔]([^[\]［］【】〔〕]{1,40})[\]］】〕]/g;
const NUMBERS = /^[\s.^*#'"’,;–—‐‑−/&-]*[\p{N}][\p{N}\s.,;–—‐‑−/&'"’*-]*$/u;

/** Text of others as it is shown: without what hides or reorders it, and with no number that looks like a citation. */
function shown(text) {
  const plain = String(text ?? "").replace(BLANKED, " ").replace(HIDDEN, "").toWellFormed();
  return plain.replace(BRACKETED, (whole, inside) => (NUMBERS.test(inside) ? `‹${inside}›` : whole));
}

const line = (text) => shown(text).replace(/\s+/g, " ").trim();
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const PAGE_NOUNS = { pptx: "slide", pptm: "slide", ppsx: "slide", odp: "slide", xlsx: "sheet", xlsm: "sheet", ods: "sheet" };

function fileName(source) {
  return line(/^https?:/.test(source) ? source : source.replace(/^(text|stdin):/, "").split(/[\\/]/).pop() || source);
}

/** The file with its page, slide, or sheet and rows: "fees.xlsx, sheet Tariffs, row 14". */
function place(cited) {
  const noun = PAGE_NOUNS[cited.source.split(".").pop().toLowerCase()] ?? "page";
  const where = cited.sheet ? `, sheet ${line(cited.sheet)}` : cited.page ? `, ${noun} ${cited.page}` : "";
  const [first, last] = cited.rows ?? [];
  const rows = first ? (first === last ? `, row ${first}` : `, rows ${first}–${last}`) : "";
  return fileName(cited.source) + where + rows;
}

function say(text) {
  byId("say").textContent = text;
}

// ---------------------------------------------------------------- the API

class ProblemError extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? "something went wrong");
    this.problem = problem;
  }
}

const UNREACHABLE = { detail: "localcrag does not answer", hint: "is localcrag serve --http still running? Start it, and try again" };

/** The reply to a request; a refusal is thrown as ProblemError. */
async function call(path, options = {}) {
  const headers = { ...options.headers, Authorization: `Bearer ${state.token}` };
  let reply;
  try {
    reply = await fetch(path, { ...options, headers, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ProblemError(UNREACHABLE);
  }
  if (reply.ok) return reply;
  const problem = await reply.json().catch(() => ({ detail: `the reply was ${reply.status}` }));
  if (reply.status === 401) showDoor("The token is missing or no longer right.");
  throw new ProblemError(problem);
}

const read = async (path) => (await call(path)).json();
const post = (path, body, more = {}) =>
  call(path, { method: "POST", body: JSON.stringify(body), ...more, headers: { "Content-Type": "application/json", ...more.headers } });

/** The server-sent events of a reply, as [name, data, id]. */
async function* eventsOf(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ProblemError({ detail: "the connection broke", hint: "ask again" });
    }
    text += piece.value ?? "";
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      const id = /^id: (.*)$/m.exec(block)?.[1] ?? "";
      if (name && data) yield [name, JSON.parse(data), id];
    }
    if (piece.done) return;
  }
}

function trouble(error, retry = null) {
  const problem = error.problem ?? { detail: String(error.message ?? error) };
  const box = make("div", { className: "trouble", role: "alert" }, make("strong", {}, "This did not work."));
  const sentence = line(problem.detail);
  box.append(make("p", {}, `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`));
  if (problem.hint) box.append(make("p", { className: "small" }, `What to do: ${line(problem.hint)}.`));
  if (retry) box.append(make("button", { type: "button", className: "soft", onclick: retry }, "Ask again"));
  return box;
}

// ---------------------------------------------------------------- the path of the loop

const ACTIONS = {
  correct: ["The evidence is good", "good"],
  ambiguous: ["The evidence is doubtful", "unsure"],
  incorrect: ["The evidence does not help", "bad"],
};
const STATUSES = {
  answered: ["Answered", "good"],
  unsure: ["Unsure: check the sources", "unsure"],
  not_found: ["Your documents do not say", "none"],
  truncated: ["Cut short", "unsure"],
};

const CORRECTIONS = {
  rewrite: "another wording",
  phrasings: "other phrasings",
  hyde: "the words of an imagined answer",
  neighbours: "the passages beside the best ones",
  web: "the web",
};

/** The picture of the way: steps on a rail, corrections on a branch beside it, a bar for each grade. */
class Path {
  constructor() {
    this.steps = make("ol", { className: "steps" });
    this.rail = drawn("svg", { "aria-hidden": "true" });
    this.words = make("summary", {}, "Working");
    this.picture = make("div", { className: "path running" }, this.rail, this.steps);
    this.element = make("details", { className: "way", open: true }, this.words, this.picture);
    this.rows = new Map();
    this.searches = this.corrections = this.helpful = this.graded = 0;
    this.correcting = false;
    new ResizeObserver(() => this.draw()).observe(this.picture);
  }

  add(title, detail = "", { tone = "", kind = "", aside = false } = {}) {
    const names = ["step", tone && `is-${tone}`, kind, aside && "aside"].filter(Boolean);
    this.last = make("li", { className: names.join(" ") }, make("h3", {}, title), detail ? make("p", {}, detail) : "");
    this.steps.append(this.last);
    this.list = null;
    this.words.textContent = `${title} …`;
    say(title);
    this.draw();
  }

  /** A remark below the last step. */
  note(text) {
    this.last?.append(make("p", {}, text));
  }

  /** Rows for passages that are about to be graded. */
  expect(hits) {
    if (!this.last) return;
    this.rows.clear();
    for (const hit of hits) this.row(hit.passage);
  }

  row(passage) {
    if (!this.last || this.last.classList.contains("decision")) this.add("Graded passages", "", { aside: this.correcting });
    this.list ??= this.last.appendChild(make("ul", { className: "grades" }));
    const title = make("span", { className: "title" }, line(passage.title) || fileName(passage.source));
    const where = place({ ...passage, rows: null }).slice(fileName(passage.source).length);
    const name = make("span", { className: "name", title: place(passage) }, title, where);
    const fill = make("div", { className: "fill" });
    const number = make("span", { className: "number" }, "…");
    const row = make("li", { className: "grade waiting" }, name, make("div", { className: "track" }, fill), number);
    this.list.append(row);
    this.rows.set(passage.id, { row, fill, number });
    return this.rows.get(passage.id);
  }

  grade({ hit, verdict, confidence, reason }) {
    const { row, fill, number } = this.rows.get(hit.passage.id) ?? this.row(hit.passage);
    if (row.classList.contains("waiting")) this.graded += 1;
    row.className = `grade ${verdict}`;
    fill.style.setProperty("--share", confidence ?? 1);
    number.textContent = confidence === null ? "?" : confidence.toFixed(2);
    const words = { yes: "helps", no: "does not help", error: "could not be graded" }[verdict];
    row.append(make("span", { className: "hidden" }, `: ${words}`));
    row.title = [words, line(reason ?? "")].filter(Boolean).join(": ");
    if (verdict === "yes") this.helpful += 1;
  }

  /** What was not graded is taken away, or kept as spared. */
  settle(spared = null) {
    for (const { row, number } of this.rows.values()) {
      if (!row.classList.contains("waiting")) continue;
      if (spared) {
        row.className = "grade spared";
        number.textContent = "–";
      } else row.remove();
    }
    this.rows.clear();
  }

  finish(answer) {
    this.picture.classList.remove("running");
    const parts = [
      count(this.searches, "search").replace("searchs", "searches"),
      this.graded ? `${this.helpful} of ${count(this.graded, "passage")} ${this.helpful === 1 ? "helps" : "help"}` : "",
      this.corrections ? count(this.corrections, "correction") : "no correction",
      answer ? `${(answer.usage.seconds.total ?? 0).toFixed(1)} s` : "stopped",
    ];
    this.words.textContent = `The way: ${parts.filter(Boolean).join(" · ")}`;
    this.element.open = !answer || (answer.status !== "answered" && !answer.citations.length);
  }

  /** Draw the lines between the marks of the steps. */
  draw() {
    const places = [...this.steps.children].map((step) => {
      const mark = getComputedStyle(step, "::before");
      return [step.offsetLeft + parseFloat(mark.left) + parseFloat(mark.width) / 2, step.offsetTop + 11];
    });
    this.rail.replaceChildren();
    for (let at = 1; at < places.length; at += 1) {
      const [[x0, y0], [x1, y1]] = [places[at - 1], places[at]];
      const bend = Math.min(44, y1 - y0);
      let d = `M${x0} ${y0}V${y1}`;
      if (x1 > x0) d = `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y0} ${x1} ${y0 + bend}V${y1}`;
      if (x1 < x0) d = `M${x0} ${y0}V${y1 - bend}C${x0} ${y1} ${x1} ${y1 - bend} ${x1} ${y1}`;
      this.rail.append(drawn("path", { class: "rail", d }));
    }
  }

  /** Show an event of the loop; those of the answer's text are shown by the turn. */
  show(name, event) {
    EVENT_STEPS[name]?.(this, event);
  }
}

const EVENT_STEPS = {
  condensed: (path, event) => path.add("Understood the question", `“${line(event.standalone)}”`),
  divided: (path, event) => path.add(`Divided it into ${event.parts.length} questions`, event.parts.map(line).join(" · ")),
  part_settled: (path, event) => {
    const [words, tone] = STATUSES[event.status];
    path.add(`${words}: “${line(event.question)}”`, "", { tone });
  },
  retrieved: (path, event) => {
    path.searches += 1;
    path.correcting = false;
    path.add("Searched your documents", `“${line(event.query)}”: ${count(event.hits.length, "passage")}`);
  },
  reranked: (path, event) => path.expect(event.hits),
  graded: (path, event) => path.grade(event.grade),
  spared: (path, event) => {
    path.settle(event.hits);
    path.note(`${count(event.hits.length, "passage")} not graded: enough is surely relevant`);
  },
  computed: (path, event) => {
    const { operation, value, rows } = event.computation;
    path.add("Computed by code, no model was asked", `${operation}: ${line(value)}, over ${count(rows, "row")}`, { tone: "good" });
  },
  decided: (path, event) => {
    path.settle();
    path.correcting = event.action !== "correct";
    const [words, tone] = ACTIONS[event.action];
    path.add(words, line(event.reason), { tone, kind: "decision" });
  },
  rewritten: (path, event) => {
    if (!event.queries.length) path.add(`Looked for ${CORRECTIONS[event.kind]}`, "found none that was not tried before", { aside: true });
  },
  corrected: (path, event) => {
    path.corrections += 1;
    path.add(`Searched again: ${CORRECTIONS[event.kind]}`, `“${line(event.query)}”: ${count(event.hits.length, "new passage")}`, { aside: true });
    path.expect(event.hits);
  },
  web_asked: (path, event) => {
    const words = event.sent ? "Sent this line to your SearXNG" : "Nothing was sent to the web";
    const detail = event.sent ? count(event.results, "result") : line(event.reason);
    path.add(words, `“${line(event.query)}”: ${detail}`, { aside: true, tone: event.sent ? "unsure" : "" });
  },
  page_read: (path, event) => path.note(`read ${line(event.url)}`),
  planned: (path, event) => {
    const steps = event.steps.map((step) => `${step.tool.replaceAll("_", " ")} ${line(step.query)}`.trim());
    path.add(event.revised ? "Made another plan" : "Made a plan", steps.join(" · "));
  },
  stepped: (path, event) => path.add(`Step ${event.number}: ${event.step.tool.replaceAll("_", " ")}`, line(event.step.query)),
  assessed: (path, event) =>
    path.add(event.enough ? "Enough to answer" : "Not enough yet", line(event.reason), { kind: "decision", tone: event.enough ? "good" : "unsure" }),
  bounded: (path, event) => path.add("Stopped at a bound", line(event.reason), { tone: "bad" }),
  refined: (path, event) => {
    path.correcting = false;
    path.add(`Kept ${count(event.kept.length, "piece")} of evidence`, event.dropped ? `${event.dropped} left` : "");
  },
  verified: (path, event) => {
    if (event.removed.length) path.add("Removed what failed a check", event.removed.map(line).join(" · "), { tone: "bad" });
    else path.add("Checked the citations", "every quotation stands in its document", { tone: "good" });
  },
  grounded: (path, event) => {
    const held = event.claims.filter((claim) => claim.verdict === "yes").length;
    if (event.claims.length) {
      const tone = held === event.claims.length ? "good" : "unsure";
      path.add("Checked each sentence", `${held} of ${event.claims.length} borne out by the evidence`, { tone });
    }
  },
  contradicted: (path, event) => {
    if (event.contradictions.length) path.add("Sources disagree", count(event.contradictions.length, "pair"), { tone: "bad" });
  },
  degraded: (path, event) => path.add(`Did without: ${line(event.part)}`, line(event.reason), { tone: "bad" }),
  queued: (path, event) => path.add("Waiting", `${count(event.ahead, "question")} before this one`),
};

// ---------------------------------------------------------------- one question and its answer

/** Why an answer is not sure, in words. */
function doubts(answer) {
  const found = [];
  if (answer.status === "truncated") found.push("The answer is not complete.");
  if (answer.contradictions.length) found.push("The sources disagree.");
  for (const claim of answer.claims) {
    if (claim.verdict === "no") found.push(`Not borne out by its evidence: “${line(claim.text)}”`);
  }
  for (const part of answer.parts) {
    if (part.status === "not_found") found.push(`Not answered: “${line(part.question)}”`);
  }
  if (answer.status === "unsure" && !found.length) found.push("The evidence is weak.");
  found.push(...answer.degraded.map((reason) => `Did without: ${line(reason)}`));
  found.push(...answer.suggestions.map((suggestion) => `You could ask again ${line(suggestion)}`));
  found.push(...answer.unread.map((item) => `Not read: ${fileName(item.source)} (${line(item.reason)})`));
  return found;
}

class Turn {
  constructor(question, kb) {
    this.kb = kb;
    this.question = question;
    this.evidence = new Map();
    this.report = "";
    this.path = new Path();
    this.verdict = make("div", { className: "verdict" });
    this.answer = make("div", { className: "answer" });
    this.below = make("div");
    const heading = make("h2", { className: "asked", tabIndex: -1 }, shown(question));
    this.element = make("article", { className: "turn" }, heading, this.path.element, this.verdict, this.answer, this.below);
  }

  show(name, event) {
    if (name === "gathered") {
      for (const { key, strip } of event.evidence) this.evidence.set(key, { ...strip.passage, start: strip.start, end: strip.end, quote: strip.text, passage: strip.passage });
    } else if (name === "delta") {
      this.write(event.text, event.marks);
      this.path.words.textContent = "Answering …";
    } else if (name === "finished") this.finish(event);
    else this.path.show(name, event);
  }

  /** Append text; its marks, counted in code points, become buttons that open the source. */
  write(text, marks) {
    const points = Array.from(text);
    let end = 0;
    for (const mark of [...marks].sort((a, b) => a.start - b.start)) {
      this.answer.append(shown(points.slice(end, mark.start).join("")), this.cite(mark.key));
      end = mark.end;
    }
    this.answer.append(shown(points.slice(end).join("")));
  }

  cite(key) {
    const button = make("button", { type: "button", className: "cite", "aria-expanded": "false" }, String(key));
    const cited = this.evidence.get(key);
    button.setAttribute("aria-label", cited ? `Source ${key}: ${place(cited)}` : `Source ${key}`);
    button.onclick = () => openSource(this, key, button);
    return button;
  }

  finish(answer) {
    for (const citation of answer.citations) {
      this.evidence.set(citation.key, { ...this.evidence.get(citation.key), ...citation });
    }
    this.answer.replaceChildren();
    this.write(answer.answer, answer.marks);
    const [words, tone] = STATUSES[answer.status];
    const sent = answer.web.filter((query) => query.sent).length;
    this.verdict.replaceChildren(
      make("span", { className: `status ${tone}` }, icon(ICONS[answer.status]), words),
      make("span", { className: "quiet small" }, sent ? `${count(sent, "line")} went to your SearXNG` : "nothing left this machine"),
    );
    this.path.add(words, "", { tone, kind: "end" });
    this.path.finish(answer);
    this.below.replaceChildren();
    const notes = doubts(answer);
    if (notes.length) this.below.append(make("ul", { className: "notes" }, ...notes.map((note) => make("li", {}, note))));
    if (answer.fields.length) this.below.append(this.fields(answer));
    this.below.append(this.cards(answer), this.actions(answer));
    say(`${words}. ${count(answer.citations.length, "source")}.`);
  }

  /** The values of a structured answer, each with what bears it out. */
  fields(answer) {
    const row = (field) => make(
      "tr",
      {},
      make("th", { scope: "row" }, line(field.place.split("/").slice(1).join(", ") || "answer")),
      make("td", {}, field.value === null ? "–" : line(String(field.value))),
      make("td", {}, ...(field.key ? [`${field.support} `, this.cite(field.key)] : [`not borne out: ${line(field.reason)}`])),
    );
    const heads = ["Field", "Value", "Borne out"].map((name) => make("th", { scope: "col" }, name));
    return make("table", { className: "values" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...answer.fields.map(row)));
  }

  cards(answer) {
    const cards = answer.citations.map((citation) => {
      const card = make(
        "button",
        { type: "button", className: "card", "aria-expanded": "false" },
        make("strong", {}, `${citation.key} · ${place(citation)}`),
        citation.origin === "web" ? make("span", { className: "small" }, "from the web") : "",
        make("span", { className: "quote" }, `“${shown(citation.quote)}”`),
      );
      card.onclick = () => openSource(this, citation.key, card);
      return make("li", {}, card);
    });
    return make("ul", { className: "cards", "aria-label": "Sources" }, ...cards);
  }

  actions(answer) {
    const copy = make("button", { type: "button", className: "soft" }, "Copy");
    copy.onclick = async () => {
      await navigator.clipboard.writeText([answer.answer, "", ...answer.citations.map((c) => `[${c.key}] ${place(c)}`)].join("\n"));
      say("Copied");
    };
    const actions = make("div", { className: "after" }, copy);
    if (this.report) {
      const save = make("button", { type: "button", className: "soft" }, "Save a report");
      save.onclick = () => this.save(save);
      actions.append(save);
    }
    return actions;
  }

  /** Save the report of this question as a file. */
  async save(button) {
    button.disabled = true;
    try {
      const page = await (await call(`api/reports/${encodeURIComponent(this.report)}`)).blob();
      const link = make("a", { href: URL.createObjectURL(page), download: "answer.html" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    } catch (error) {
      this.below.append(trouble(error));
    }
    button.disabled = false;
  }

  fail(error, retry) {
    this.path.settle();
    this.path.finish(null);
    this.path.element.hidden = !this.path.last;
    this.below.append(error.name === "AbortError" ? make("p", { className: "quiet" }, "You stopped this question.") : trouble(error, retry));
    if (error.name === "AbortError") say("Stopped");
  }
}

// ---------------------------------------------------------------- asking

/** The words of which one is to be the answer; none if it is free. */
function choices() {
  return [...new Set(byId("choices").value.split(",").map((word) => word.trim()).filter(Boolean))];
}

function optionsOf() {
  const value = (id) => byId(id).value.trim() || null;
  const chosen = { policy: value("policy"), mode: value("mode"), model: value("model"), filter: value("filter"), web: byId("web").value };
  const words = choices();
  return words.length > 1 ? { ...chosen, output: { enum: words } } : chosen;
}

function showAsking(controller) {
  state.asking = controller;
  byId("send").hidden = Boolean(controller);
  byId("stop").hidden = !controller;
}

async function ask(question) {
  const turn = new Turn(question, state.kb);
  byId("welcome").hidden = true;
  byId("turns").append(turn.element);
  turn.element.scrollIntoView({ block: "start" });
  const controller = new AbortController();
  showAsking(controller);
  turn.path.words.textContent = "Starting …";
  const body = { kb: state.kb, question, options: optionsOf(), history: state.history.slice(-MAX_HISTORY_TURNS), thread: state.thread };
  let answer = null;
  try {
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

// ---------------------------------------------------------------- a source

async function openSource(turn, key, opener) {
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
  const image = make("img", { src: URL.createObjectURL(picture), alt: `Page ${found.page} of ${line(found.title)}, with the quoted words boxed` });
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

function closeSource() {
  if (!state.opener) return;
  state.opener.setAttribute("aria-expanded", "false");
  state.opener.focus();
  state.opener = null;
  byId("source").hidden = true;
  byId("frame").classList.remove("with-source");
}

// ---------------------------------------------------------------- knowledge bases and conversations

async function loadBases() {
  const found = await read("api/knowledge-bases");
  state.bases = found.knowledge_bases;
  const names = state.bases.map((base) => base.name);
  if (!names.includes(found.default)) names.unshift(found.default);
  if (!names.includes(state.kb)) state.kb = found.default;
  byId("kb").replaceChildren(...names.map((name) => make("option", { value: name }, line(name))));
  byId("kb").value = state.kb;
  showBase();
}

function showBase() {
  const base = state.bases.find((one) => one.name === state.kb);
  byId("kb-facts").textContent = base ? `${count(base.documents, "document")}, ${count(base.passages, "passage")}` : "nothing in it yet";
  byId("fields").replaceChildren(...(base?.fields ?? []).map((name) => make("option", { value: `${name} = ` })));
  byId("dropping-kb").textContent = state.kb;
  byId("documents").disabled = !base;
}

async function loadThreads() {
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

// ---------------------------------------------------------------- adding files

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
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(0);
    ingest([...event.dataTransfer.files]);
  });
}

// ---------------------------------------------------------------- the start

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

function showChoices() {
  const chosen = ["policy", "mode", "model", "filter"].map((id) => byId(id).value.trim()).filter(Boolean);
  if (choices().length > 1) chosen.push(choices().join(" or "));
  if (byId("web").value === "ask") chosen.push("web: ask me");
  byId("how-words").textContent = chosen.map(line).join(" · ");
}

function fitQuestion() {
  const box = byId("question");
  box.style.height = "auto";
  if (box.scrollHeight) box.style.height = `${box.scrollHeight}px`; // 0 as long as the page is not shown yet
}

function submit(event) {
  event.preventDefault();
  const question = byId("question").value.trim();
  if (!question || state.asking) return;
  byId("question").value = "";
  fitQuestion();
  ask(question);
}

function chooseTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("theme", theme);
  byId("theme").value = theme;
}

function watch() {
  byId("composer").onsubmit = submit;
  byId("composer").onchange = showChoices;
  byId("question").oninput = fitQuestion;
  byId("question").onkeydown = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  };
  byId("stop").onclick = () => state.asking?.abort();
  byId("source-close").onclick = closeSource;
  byId("kb").onchange = () => {
    state.kb = byId("kb").value;
    showBase();
  };
  byId("new").onclick = () => {
    state.asking?.abort();
    showThread("");
    loadThreads();
    byId("question").focus();
  };
  byId("keep").onclick = () => byId("keeping").showModal();
  byId("keeping-no").onclick = () => byId("keeping").close();
  byId("keeping-form").onsubmit = () => {
    state.thread = byId("keeping-name").value.trim();
    byId("title").textContent = line(state.thread);
    byId("keep").hidden = true;
  };
  byId("documents").onclick = showDocuments;
  byId("held-close").onclick = () => byId("held").close();
  byId("add").onclick = () => byId("files").click();
  byId("files").onchange = () => {
    ingest([...byId("files").files]);
    byId("files").value = "";
  };
  byId("intake-close").onclick = () => (byId("intake").hidden = true);
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
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) closeSource();
    if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) {
      event.preventDefault();
      byId("question").focus();
    }
  });
  watchDrops();
}

function keepToken(token) {
  state.token = token;
  sessionStorage.setItem("token", token);
}

async function start() {
  if (!state.token) return showDoor("This page needs a token.");
  try {
    state.status = await read("api/status");
    byId("door").hidden = true;
    byId("frame").hidden = false;
    showStatus();
    await Promise.all([loadBases(), loadThreads()]);
    byId("question").focus();
  } catch (error) {
    if (error.problem?.status !== 401) showDoor(`${line(error.message)}.`);
  }
}

const handed = new URLSearchParams(location.hash.slice(1)).get("token");
if (handed) history.replaceState(null, "", location.pathname);
keepToken(handed ?? sessionStorage.getItem("token") ?? "");
chooseTheme(localStorage.getItem("theme") ?? "");
watch();
fitQuestion();
start();
