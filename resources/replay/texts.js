// What stands beside the pictures as text: headings, counters, captions, source, findings, questions.

const MARK_TEXTS = { exact: "exact", part: "part", measured: "measured", modelled: "modelled" };

function mark(name, tip) {
  return make("span", { class: `mark ${name}`, title: tip || null }, MARK_TEXTS[name] || name);
}

// One pane: its heading, its picture, what it says, its counters.
class PaneView {
  constructor(step, index, track, session) {
    this.track = track;
    this.session = session;
    this.title = [session.title, step.apart[index]].filter(Boolean).join(", ");
    this.counters = session.counters.map((counter) => ({ ...counter, texts: new Changes(counter.texts) }));
    this.canvas = make("canvas", { class: "picture", role: "img" });
    this.says = make("figcaption", { class: track.data.saysInPicture ? "says twice" : "says" });
    this.values = this.counters.map(() => make("dd", { class: "value" }));
    const lit = new Set(track.data.counters);
    this.element = make(
      "article",
      { class: "pane", "aria-label": this.title },
      this.heading(step, index),
      make("figure", {}, this.canvas, this.says),
      make(
        "dl",
        { class: `counters${lit.size ? " lit" : ""}` },
        ...this.counters.map((counter, i) => {
          const label = make("dt", { title: counter.meaning }, counter.label, " ", mark(counter.mark, counter.of));
          return make("div", { class: lit.has(counter.label) ? "counter bright" : "counter" }, this.values[i], label);
        }),
      ),
    );
    const [first, last] = track.data.moments;
    if (first > 0 || last < session.end) {
      const there = `This page has moments ${grouped(first)} to ${grouped(last)} of ${grouped(session.end)}.`;
      this.element.append(make("p", { class: "notice" }, there));
    }
    if (session.notice) this.element.append(make("p", { class: "notice" }, session.notice));
  }

  heading(step, index) {
    const { session } = this, apart = step.apart[index], measured = step.measured[index];
    const verdict = make("span", { class: session.good ? "verdict good" : "verdict bad", title: session.made || null });
    verdict.textContent = session.verdict && `${session.good ? "✓ " : ""}${session.verdict}`;
    const title = make("h3", {}, session.title, apart ? make("span", { class: "apart" }, ` ${apart}`) : "");
    const head = make("header", {}, make("div", { class: "headline" }, title, verdict));
    if (measured) head.append(make("p", { class: "measured" }, measured));
    if (session.lesson) head.append(make("p", { class: "lesson", title: session.lesson }, session.lesson));
    if (session.pitfall) head.append(make("p", { class: "pitfall" }, make("b", {}, "Pitfall. "), session.pitfall));
    return head;
  }

  draw(moment, width, height) {
    const now = Math.floor(moment), words = this.track.says.at(now) || "";
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    if (fit(this.canvas, width, height)) this.track.draw(this.canvas, moment);
    say(this.says, words);
    const label = `Picture of ${this.title} at moment ${now}. ${words}`;
    if (this.canvas.getAttribute("aria-label") !== label) this.canvas.setAttribute("aria-label", label);
    this.counters.forEach((counter, i) => say(this.values[i], counter.texts.at(now) || ""));
  }
}

// The source of a session, with the line where the selected warp is and how many requests each line has made.
class SourceView {
  constructor(session, tables) {
    this.session = session;
    this.tables = tables;
    this.element = make("div", { class: "source" });
    this.counts = session.source.counts.map(([file, line, ...changes]) => [file, line, new Changes(changes)]);
    this.files = session.source.files.map((file) => this.build(file));
    this.file = -1;
    this.name = make("p", { class: "file" });
    this.element.append(this.name, ...this.files.map(({ element }) => element));
    this.show(0);
  }

  build(file) {
    const lines = file.lines.map((parts, i) => {
      const count = make("span", { class: "times", "aria-hidden": "true" });
      const code = make("code", {}, ...parts.map(([style, text]) => (style ? make("span", { class: style }, text) : text)));
      const number = make("span", { class: "line", "aria-hidden": "true" }, String(file.first + i));
      return { element: make("li", {}, number, count, code), count };
    });
    return { ...file, lines, element: make("ol", {}, ...lines.map(({ element }) => element)) };
  }

  show(file) {
    if (file === this.file) return;
    this.file = file;
    this.files.forEach(({ element }, i) => (element.hidden = i !== file));
    say(this.name, this.files[file] ? this.files[file].name : "");
  }

  draw(moment, [site, look], lit) {
    const [file, line] = site >= 0 ? this.session.source.sites[site] : [-1, 0];
    if (file >= 0) this.show(file);
    for (const [of, number, changes] of this.counts) {
      const row = this.row(of, number), count = changes.at(moment);
      if (row) say(row.count, count ? grouped(count) : "");
    }
    const now = file >= 0 ? this.row(file, line) : null;
    if (this.now && this.now !== now) this.unmark(this.now);
    if (now) {
      now.element.className = "now";
      now.element.setAttribute("aria-current", "true");
      now.element.style.setProperty("--look", this.tables.data.look.kinds[look].colour[this.tables.dark]);
      if (now !== this.now) this.reveal(now.element);
    }
    this.now = now;
    const bright = new Set(lit.map(([of, number]) => this.row(of, number)));
    this.element.classList.toggle("lit", bright.size > 0);
    for (const { lines } of this.files) {
      for (const row of lines) row.element.classList.toggle("bright", bright.has(row));
    }
  }

  unmark(row) {
    row.element.className = "";
    row.element.removeAttribute("aria-current");
  }

  row(file, line) {
    const found = this.files[file];
    return found ? found.lines[line - found.first] : undefined;
  }

  // Bring a line into sight within the source alone: the page stays where it is.
  reveal(element) {
    const box = this.element, top = element.offsetTop - box.offsetTop;
    if (box.scrollHeight <= box.clientHeight + 1) return;
    if (top < box.scrollTop + 24 || top + element.offsetHeight > box.scrollTop + box.clientHeight - 24) {
      box.scrollTop = top - box.clientHeight / 2;
    }
  }
}

function findingsList(session, go) {
  if (!session.findings.length) return make("p", { class: "quiet" }, "Nothing to tell: no race, no waste.");
  const rows = session.findings.map((finding) => {
    const where = finding.line ? `line ${finding.line}, ` : "";
    const button = make("button", { class: "link", onclick: () => go(finding.moment) }, `${where}moment ${grouped(finding.moment)}`);
    const kind = make("b", { class: `severity ${finding.severity}` }, finding.severity);
    return make("li", {}, kind, " ", finding.message, " ", button);
  });
  return make("ul", { class: "findings" }, ...rows);
}

// A question with its answer, which stays hidden until it is asked for.
function questionCard(question, revealed) {
  const answer = make("p", { class: "answer", role: "status" });
  const card = make("section", { class: "question", "aria-label": "Question" }, make("p", { class: "ask" }, question.ask));
  const reveal = () => {
    answer.replaceChildren("Answer: ", make("b", {}, question.answer));
    if (question.mark) answer.append(" ", mark(question.mark, question.origin));
    card.classList.add("revealed");
    show.remove();
    revealed();
  };
  const show = make("button", { class: "reveal", onclick: reveal }, "Show the answer");
  const choices = question.choices.map((text, i) => {
    const button = make("button", { class: "choice" }, make("b", {}, "ABCDEF"[i]), " ", text);
    button.addEventListener("click", () => {
      button.classList.add(i === question.right ? "right" : "wrong");
      choices[question.right].classList.add("right");
      choices[question.right].append(" ✓");
      choices.forEach((other) => (other.disabled = true));
      reveal();
    });
    return button;
  });
  if (question.hint) card.append(make("p", { class: "muted" }, question.hint));
  card.append(make("div", { class: "choices" }, ...choices, show), answer);
  return card;
}

// The sentences of a value's path; each with a moment is a link to it.
function pathList(sentences, go) {
  const rows = sentences.map(([text, moment, depth, fault]) => {
    const sign = fault ? `${fault === "unordered" || fault === "leftover" ? "?" : "\u26a0"} ` : "";
    const link = moment < 0 ? [] : [" ", make("button", { class: "link", onclick: () => go(moment) }, `moment ${grouped(moment)}`)];
    return make("li", { class: `depth${Math.min(depth, 4)}` }, sign + text, ...link);
  });
  return make("ul", { class: "findings path" }, ...rows);
}
