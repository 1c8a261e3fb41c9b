// Requests to the API of the door, its server-sent events, and its problems in words.

import { make } from "./elements.js";
import { state } from "./page_state.js";
import { line, sentence } from "./shown_text.js";

export class ProblemError extends Error {
  constructor(problem) {
    super(problem.detail ?? problem.title ?? "something went wrong");
    this.problem = problem;
  }
}

const UNREACHABLE = { detail: "localcrag does not answer", hint: "is localcrag serve --http still running? Start it, and try again" };

/** The reply to a request; a refusal is thrown as ProblemError, that of the token is an event beside. */
export async function call(path, options = {}) {
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
  if (reply.status === 401) dispatchEvent(new Event("tokenrefused"));
  throw new ProblemError(problem);
}

export const read = async (path) => (await call(path)).json();
export const post = (path, body, more = {}) =>
  call(path, { method: "POST", body: JSON.stringify(body), ...more, headers: { "Content-Type": "application/json", ...more.headers } });

/** The server-sent events of a reply, as [name, data, id]. */
export async function* eventsOf(reply) {
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

/** What went wrong and what to do, as an element; `retry` is called by its button. */
export function trouble(error, retry = null) {
  const problem = error.problem ?? { detail: String(error.message ?? error) };
  const box = make("div", { className: "trouble", role: "alert" }, make("strong", {}, "This did not work."));
  box.append(make("p", {}, sentence(problem.detail)));
  if (problem.hint) box.append(make("p", { className: "small" }, `What to do: ${line(problem.hint)}.`));
  if (retry) box.append(make("button", { type: "button", className: "soft", onclick: retry }, "Ask again"));
  return box;
}
