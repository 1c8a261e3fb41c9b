// The picture of the way that a question takes through the loop.

import { drawn, make, say } from "./elements.js";
import { count, fileName, line, place } from "./shown_text.js";

const ACTIONS = {
  correct: ["The evidence is good", "good"],
  ambiguous: ["The evidence is doubtful", "unsure"],
  incorrect: ["The evidence does not help", "bad"],
};
/** How a question stands, in words, with the tone of it. */
export const STATUSES = {
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
export class Path {
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
    this.element.open = !answer;
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
  passages_read: (path, event) =>
    path.note(`the chat model read ${count(event.passages, "passage")} whole: P(they answer) = ${event.probability.toFixed(2)}`),
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
    path.add(`Kept ${count(event.kept.length, "piece")} of evidence`, event.dropped ? `${event.dropped} left out` : "");
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
