"use strict";
// The page's data: unpacked once, then asked for what holds at a moment. All texts in it are shown as text alone.

async function unpack(letters) {
  const bytes = Uint8Array.from(atob(letters.replace(/\s+/g, "")), (letter) => letter.charCodeAt(0));
  const deflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")); // see `packed`
  const stream = deflated.pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

// Changes are [moments, values], each moment as its distance from the one before.
function summed(gaps) {
  let at = 0;
  return gaps.map((gap) => (at += gap));
}

class Changes {
  constructor([gaps, values]) {
    this.moments = summed(gaps);
    this.values = values;
  }

  // The value that was noted last at a moment or before; the first one before that.
  at(moment) {
    let low = 0, high = this.moments.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.moments[middle] <= moment) low = middle + 1;
      else high = middle;
    }
    return low ? this.values[low - 1] : undefined;
  }
}

// How the moments of panes go together with that of the playhead: as in app/model/pane_moments.py.
function paneMoments(position, ends, link) {
  const longest = Math.max(...ends);
  if (link === "moment" || !longest || position < 1) return ends.map((end) => Math.min(position, end));
  return ends.map((end) => {
    const moment = ((position - 1) * end) / longest + 1, near = Math.round(moment);
    return Math.min(Math.abs(moment - near) < 1e-6 ? near : moment, end);
  });
}

function playheadMoment(moment, pane, ends, link) {
  moment = Math.min(Math.max(moment, 0), ends[pane]);
  if (link === "moment" || moment < 1) return moment;
  return ((moment - 1) * Math.max(...ends)) / ends[pane] + 1;
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

// An element with attributes and children; texts become text, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Rich text that was made in the program: ["p", "text", ["b", "bold"]]; only these elements are made of it.
const RICH = new Set(["p", "b", "i", "code", "sup", "sub", "pre", "br"]);

function rich(tree) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [tag, ...children] = tree;
  return make(RICH.has(tag) ? tag : "span", {}, ...children.map(rich));
}
