// Elements of the page, and what is told to screen readers. A string becomes text, never markup.

export const byId = (id) => document.getElementById(id);

/** An element with properties, data and children; a string becomes a text node. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function drawn(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function icon(path) {
  const picture = drawn("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  picture.append(drawn("path", { d: path }));
  return picture;
}

/** Tell a screen reader. */
export function say(text) {
  byId("say").textContent = text;
}
