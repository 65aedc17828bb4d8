"use strict";
// The phone's page: the lecturer's step as a replay, the open question, and the hall's votes. All texts are shown as text.

const LETTERS = "ABCDEF";
const COUNTED = "Your vote counts. You can change it until the vote is closed.";
const page = { replay: "", question: -1, mode: "", vote: null, state: null };

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

const status = document.getElementById("status");
const step = make("p", { class: "step" });
const title = make("h1");
const card = make("section", { class: "card", "aria-label": "Question" });
const note = make("p", { class: "note", role: "status" });
const replay = make("div", { class: "replay" });

function say(text, isProblem = false) {
  note.textContent = text;
  note.classList.toggle("problem", isProblem);
}

function show(state, vote) {
  page.state = state;
  status.hidden = true;
  step.textContent = state.steps ? `Step ${state.step} of ${state.steps}` : "";
  title.textContent = state.title || "The lecture is not shown now";
  const question = state.question, mode = state.answer ? "answer" : state.is_open ? "open" : "closed";
  if (!question) card.replaceChildren();
  else if (question.number !== page.question || mode !== page.mode || mode !== "open") {
    page.vote = vote;
    showQuestion(question, mode, state);
  }
  card.hidden = !question;
  page.question = question ? question.number : -1;
  page.mode = mode;
  showReplay(state.page);
}

// The replay is a page by itself, in a frame without the rights of this one.
function showReplay(name) {
  if (name === page.replay && replay.firstChild) return;
  page.replay = name;
  if (!name) return replay.replaceChildren(make("p", { class: "wait" }, "No picture yet. Follow the lecture on the screen."));
  const frame = make("iframe", { src: `/step/${name}`, sandbox: "allow-scripts", title: "Replay of this step" });
  replay.replaceChildren(frame);
}

function showQuestion(question, mode, state) {
  const parts = [make("h2", {}, question.ask)];
  if (mode === "open") parts.push(...FORMS[question.kind](question));
  if (state.rows.length && mode !== "open") parts.push(histogram(question, state.rows));
  if (question.kind === "bars" && state.rows.length && mode !== "open") {
    const medians = "Medians of the hall, as percent of the longest bar.";
    parts.push(make("p", { class: "hint" }, mode === "answer" ? `${medians} The vertical mark is the answer.` : medians));
  }
  if (mode === "answer") parts.push(make("p", { class: "answer" }, "Answer: ", make("b", {}, state.answer)));
  card.replaceChildren(...parts, note);
  if (mode === "open") say(page.vote === null ? "" : COUNTED);
  else say(ownVote(question, mode));
}

function ownVote(question, mode) {
  if (page.vote === null) return mode === "answer" ? "" : "The vote is closed.";
  const texts = {
    choose: () => `${LETTERS[page.vote]}  ${question.choices[page.vote]}`,
    number: () => String(page.vote),
    line: () => `line ${page.vote}`,
    bars: () => question.bars.map((label, i) => `${label} ${Math.round(page.vote[i])}`).join(", "),
  };
  return `Your vote: ${texts[question.kind]()}`;
}

async function send(vote) {
  const asked = page.question;
  try {
    const answer = await fetch("/vote", { method: "POST", body: JSON.stringify({ question: asked, vote }) });
    if (asked !== page.question || page.mode !== "open") return;
    if (!answer.ok) return say(await answer.text(), true);
    page.vote = vote;
    for (const button of card.querySelectorAll("[data-vote]")) {
      button.setAttribute("aria-pressed", String(button.dataset.vote === String(vote)));
    }
    say(COUNTED);
  } catch {
    say("The vote was not sent. Check your Wi-Fi, then vote again.", true);
  }
}

function voteButton(value, ...parts) {
  const isPressed = String(page.vote !== null && page.vote === value);
  return make("button", { "data-vote": value, "aria-pressed": isPressed, onclick: () => send(value) }, ...parts);
}

// Forms by the question's kind.
const FORMS = {
  choose: ({ choices }) => [
    make("div", { class: "choices" }, ...choices.map((text, i) => voteButton(i, make("b", {}, LETTERS[i]), make("span", {}, text)))),
  ],
  number: () => {
    const field = make("input", { inputmode: "decimal", "aria-label": "Your number", placeholder: "a number", autocomplete: "off", maxlength: 20 });
    if (page.vote !== null) field.value = String(page.vote);
    const submit = (event) => {
      event.preventDefault();
      const words = field.value.trim(), isGrouped = /^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(words); // 1,024 or 0,5
      const text = isGrouped ? words.replace(/,/g, "") : words.replace(",", "."), number = Number(text);
      if (!text || !Number.isFinite(number)) return say("Type a number, as in 64 or 0.5.", true);
      send(number);
    };
    return [make("form", { onsubmit: submit }, field, make("button", { class: "primary" }, "Vote"))];
  },
  line: ({ lines }) => [
    make("p", { class: "hint" }, "Mark a line."),
    make("div", { class: "lines" }, ...lines.map(([number, text]) => voteButton(number, make("i", {}, String(number)), make("code", {}, text || " ")))),
  ],
  bars: ({ bars }) => {
    const fields = bars.map((label, i) => {
      const bar = make("input", { type: "range", min: 0, max: 100, value: page.vote ? page.vote[i] : 50, "aria-label": label });
      const fill = () => bar.style.setProperty("--length", `${bar.value}%`);
      bar.addEventListener("input", fill);
      fill();
      return bar;
    });
    const rows = fields.map((bar, i) => make("label", { class: "bar" }, make("span", {}, bars[i]), bar));
    const submit = make("button", { class: "primary", onclick: () => send(fields.map((bar) => Number(bar.value))) }, "Vote");
    return [make("p", { class: "hint" }, "Drag the bars to their proportions."), ...rows, submit];
  },
};

function histogram(question, rows) {
  const elements = rows.map((row) => {
    const bar = make("span", { class: "share" }), track = make("span", { class: "track" }, bar);
    bar.style.width = `${100 * row.share}%`;
    if (row.target !== null) {
      const mark = make("span", { class: "target", title: "The answer" });
      mark.style.left = `${100 * row.target}%`;
      track.append(mark);
    }
    const sign = row.is_right ? " ✓" : "";
    return make("li", { class: row.is_right ? "right" : "" }, make("span", { class: "name" }, row.label + sign), track, make("span", { class: "count" }, row.text));
  });
  const label = question.kind === "bars" ? "Median of the hall" : "Votes of the hall";
  return make("ul", { class: `histogram ${question.kind}`, "aria-label": label }, ...elements);
}

function connect() {
  const stream = new EventSource("/events");
  stream.onmessage = (event) => {
    const { state, vote } = JSON.parse(event.data);
    show(state, vote);
  };
  stream.onerror = () => {
    status.textContent = "The connection is lost. This page tries again…";
    status.hidden = false;
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 2000);
  };
}

if (window.EventSource && window.fetch && card.replaceChildren) {
  status.textContent = "Connecting…";
  document.getElementById("hall").append(make("header", {}, step, title), card, replay);
  connect();
} else {
  status.textContent = "This page needs a browser of 2023 or later. Follow the lecture on the screen.";
}
