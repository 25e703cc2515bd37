// Creates elements from plain values. Text is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** An HTML element: attributes, `onclick` and the like as functions, then children or strings. */
const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** The same for SVG. */
const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

const byId = (id) => document.getElementById(id);

const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** A number as a reader wants it; anything else as its own words. */
function inWords(value) {
  if (value == null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") {
    if (Number.isInteger(value)) return String(value);
    const size = Math.abs(value);
    return size >= 0.0005 && size < 1e6 ? value.toFixed(3) : value.toPrecision(3);
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A score always with its decimals. */
const inScore = (value) => (value == null ? "–" : value.toFixed(3));

let names = 0;
/** An id that no other element has. */
const fresh = (word) => `page-${word}-${(names += 1)}`;
