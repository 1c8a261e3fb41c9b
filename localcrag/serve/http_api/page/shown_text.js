// Text of documents, models and the web as it is shown, and the names of the places in documents.

const BLANKED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g;
const HIDDEN = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]+|(?<![^\u0000-\u007f])[\u200c\u200d]+/gu;
const BRACKETED = /[[［【〔]([^[\]［］【】〔〕]{1,40})[\]］】〕]/g;
const NUMBERS = /^[\s.^*#'"’,;–—‐‑−/&-]*[\p{N}][\p{N}\s.,;–—‐‑−/&'"’*-]*$/u;

/** Text of others as it is shown: without what hides or reorders it, and with no number that looks like a citation. */
export function shown(text) {
  const plain = String(text ?? "").replace(BLANKED, " ").replace(HIDDEN, "").toWellFormed();
  return plain.replace(BRACKETED, (whole, inside) => (NUMBERS.test(inside) ? `‹${inside}›` : whole));
}

export const line = (text) => shown(text).replace(/\s+/g, " ").trim();

/** A line as a sentence: with a capital letter, and a full stop. */
export function sentence(text) {
  const words = line(text);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

export const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const PAGE_NOUNS = { pptx: "slide", pptm: "slide", ppsx: "slide", odp: "slide", xlsx: "sheet", xlsm: "sheet", ods: "sheet" };

export function fileName(source) {
  return line(/^https?:/.test(source) ? source : source.replace(/^(text|stdin):/, "").split(/[\\/]/).pop() || source);
}

/** The file with its page, slide, or sheet and rows: "fees.xlsx, sheet Tariffs, row 14". */
export function place(cited) {
  const noun = PAGE_NOUNS[cited.source.split(".").pop().toLowerCase()] ?? "page";
  const where = cited.sheet ? `, sheet ${line(cited.sheet)}` : cited.page ? `, ${noun} ${cited.page}` : "";
  const [first, last] = cited.rows ?? [];
  const rows = first ? (first === last ? `, row ${first}` : `, rows ${first}–${last}`) : "";
  return fileName(cited.source) + where + rows;
}
