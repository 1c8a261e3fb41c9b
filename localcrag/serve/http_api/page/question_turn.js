// One question with its path, its answer and its sources.

import { call, trouble } from "./door_api.js";
import { icon, make, say } from "./elements.js";
import { Path, STATUSES } from "./loop_path.js";
import { count, fileName, line, place, shown } from "./shown_text.js";
import { openSource } from "./source_panel.js";

const ICONS = {
  answered: "M5 12.5l4.5 4.5L19 7.5",
  unsure: "M12 4v10M12 19v.01",
  not_found: "M6 6l12 12M18 6L6 18",
  truncated: "M6 12h.01M12 12h.01M18 12h.01",
};

/** Whether an answer is an object or a list: its values stand in a table, and not in the text. */
const isRecord = (answer) => answer.value !== null && typeof answer.value === "object";

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

export class Turn {
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
    if (!isRecord(answer)) this.write(answer.answer, answer.marks);
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
    this.below.append(this.cards(answer), this.closest(answer), this.actions(answer));
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
    const cards = answer.citations.map((cited) => this.card(cited.key, `${cited.key} · ${place(cited)}`, cited.origin, `“${shown(cited.quote)}”`));
    return make("ul", { className: "cards", "aria-label": "Sources" }, ...cards);
  }

  /** A button that opens a place in a document. */
  card(key, title, origin, text) {
    const card = make(
      "button",
      { type: "button", className: "card", "aria-expanded": "false" },
      make("strong", {}, title),
      origin === "web" ? make("span", { className: "small" }, "from the web") : "",
      make("span", { className: "quote" }, text),
    );
    card.onclick = () => openSource(this, key, card);
    return make("li", {}, card);
  }

  /** The passages that come nearest to an answer that was not found: places to look, not evidence. */
  closest(answer) {
    const near = answer.closest ?? [];
    if (!near.length) return "";
    const cards = near.map((passage, at) => {
      const key = `closest ${at + 1}`;
      this.evidence.set(key, { ...passage, quote: passage.text, passage });
      return this.card(key, place(passage), passage.origin, line(passage.text));
    });
    const title = make("h3", {}, cards.length === 1 ? "The closest passage" : "The closest passages");
    return make("section", { className: "closest" }, title, make("ul", { className: "cards" }, ...cards));
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
