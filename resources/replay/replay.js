// The page: steps, playhead, keys, and who is told when the moment changes.

const ICONS = {
  play: "M7 4l13 8-13 8z", pause: "M6 4h4v16h-4zM14 4h4v16h-4z", back: "M16 5v14l-9-7z", forward: "M8 5v14l9-7z",
  phaseBack: "M13 5v14l-8-7zM21 5v14l-8-7z", phaseForward: "M3 5v14l8-7zM11 5v14l8-7z",
  start: "M5 5h3v14H5zM19 5v14l-10-7z", end: "M16 5h3v14h-3zM5 5v14l10-7z",
};
const SPEEDS = [1, 2, 4, 8, 16, 30, 60, 120, 250, 500, 1000];
const LARGEST_CHART = 1.4; // times its own size: letters are then as large as the page's
const NARROW = 720; // CSS pixels below which things stand below one another

function icon(name) {
  const namespace = "http://www.w3.org/2000/svg", picture = document.createElementNS(namespace, "svg");
  const path = document.createElementNS(namespace, "path");
  picture.setAttribute("viewBox", "0 0 24 24");
  picture.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  picture.append(path);
  return picture;
}

function button(name, label, keys, run) {
  return make("button", { class: `tool ${name}`, "aria-label": label, title: keys ? `${label} (${keys})` : label, onclick: run }, icon(name));
}

class Page {
  constructor(data) {
    this.data = data;
    this.tables = new Tables(data);
    this.tracks = data.tracks.map((track) => new Track(track, this.tables));
    this.position = 0;
    this.playing = null; // {time, position, stop} while time passes
    this.number = -1;
    this.still = window.matchMedia("(prefers-reduced-motion: reduce)");
    this.darkWish = window.matchMedia("(prefers-color-scheme: dark)");
    this.build();
    this.followTheme();
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.arrange()).observe(document.documentElement);
    window.addEventListener("resize", () => this.arrange());
    window.addEventListener("hashchange", () => this.openHash());
    this.openHash();
  }

  // What is always there.

  build() {
    const { data } = this, many = data.steps.length > 1;
    this.themeButton = make("button", { class: "plain theme", onclick: () => this.setDark(!this.tables.dark) });
        this.stepList = make("select", { "aria-label": "Step", onchange: () => this.openStep(Number(this.stepList.value)) });
    data.steps.forEach((step, i) => this.stepList.append(make("option", { value: i }, `${i + 1}. ${step.title}`)));
    this.before = make("button", { class: "plain", onclick: () => this.openStep(this.number - 1, false) }, "‹ Back");
    this.after = make("button", { class: "plain next", onclick: () => this.openStep(this.number + 1) }, "Next ›");
    this.steps = make("nav", { class: "steps", "aria-label": "Steps" }, this.before, this.stepList, this.after);
    this.steps.hidden = !many;
    this.head = make("header", { class: "top" }, make("h1", {}, data.title), this.steps, this.themeButton);
    this.head.hidden = Boolean(data.framed); // a page around this one has the title
    this.caption = make("section", { class: "caption", "aria-live": "polite" });
    this.panes = make("section", { class: "panes", "aria-label": "Pictures" });
    this.side = make("aside", { class: "side" });
    this.main = make("main", {}, this.caption, this.panes, this.side);
    this.buildFoot();
    document.body.replaceChildren(this.head, this.main, this.foot);
  }

  buildFoot() {
    this.timelineRows = make("div", { class: "timelines" });
    this.play = make("button", { class: "tool primary", onclick: () => this.toggle() });
    this.showPlay();
    this.tools = make(
      "div",
      { class: "tools", role: "group", "aria-label": "Time" },
      button("start", "First moment", "Home", () => this.seek(this.range[0])),
      button("phaseBack", "Phase before", "Shift+←", () => this.phase(-1)),
      button("back", "One moment back", "←", () => this.step(-1)),
      this.play,
      button("forward", "One moment on", "→", () => this.step(1)),
      button("phaseForward", "Next phase", "Shift+→", () => this.phase(1)),
      button("end", "Last moment", "End", () => this.seek(this.range[1])),
    );
    this.speed = make("select", { "aria-label": "Speed", onchange: () => this.restart() });
    this.where = make("p", { class: "where", "aria-live": "polite" });
    this.legend = make("ul", { class: "legend", "aria-label": "Colours" });
    this.transport = make("div", { class: "transport" }, this.tools, this.speed, this.where, this.legend);
    this.foot = make("footer", { class: "foot" }, this.timelineRows, this.transport);
  }

  // Have the colours of the page around this one, which are sent here, or else those that the reader prefers.
  followTheme() {
    const follow = () => this.setDark(hostIsDark ?? this.darkWish.matches);
    this.darkWish.addEventListener("change", follow);
    window.addEventListener("hosttheme", follow);
    follow();
  }

  setDark(dark) {
    this.tables.dark = dark ? 1 : 0;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    say(this.themeButton, dark ? "Light" : "Dark");
    this.themeButton.setAttribute("aria-label", `Turn to ${dark ? "light" : "dark"} colours`);
    this.showLegend();
    this.draw();
  }

  // Steps.

  openHash() {
    const [, step, moment] = /^#(\d+)(?:,([\d.]+))?$/.exec(location.hash) || [];
    const number = step ? Number(step) - 1 : 0;
    if (number !== this.number) this.openStep(number);
    if (moment !== undefined) this.seek(Number(moment));
  }

  // Show a step; one that plays does so, unless it is come to from behind or nothing shall move.
  openStep(number, plays = true) {
    if (number < 0 || number >= this.data.steps.length) return;
    this.pause();
    if (number !== this.number && this.number >= 0) location.replace(`#${number + 1}`); // to be found again, or passed on
    this.number = number;
    const step = this.data.steps[number];
    this.current = step;
    this.stepList.value = String(number);
    this.before.disabled = number === 0;
    this.after.disabled = number === this.data.steps.length - 1;
    this.showCaption(step);
    const shows = Boolean(step.tracks);
    this.foot.hidden = this.side.hidden = !shows;
    if (shows) this.showPanes(step);
    else this.showPicture(step);
    this.main.dataset.panes = shows ? step.tracks.length : 0;
    this.main.classList.toggle("asks", Boolean(step.asks)); // a page around this one asks
    const runs = step.plays && plays && !this.still.matches && !step.question;
    if (shows) this.seek(runs || (step.plays && step.question) ? step.begin : step.stand);
    this.arrange();
    if (this.data.steps.length > 1) window.scrollTo(0, 0);
    if (shows && runs) this.run(step.stand);
  }

  // Show what an open question hid. The step plays once its answer is shown: the end could give it away.
  playAnswer(step) {
    if (step !== this.current) return;
    if (step.asking) {
      this.paneViews.forEach((view, i) => (view.track = this.tracks[step.tracks[i]]));
      this.showTimelines();
      this.arrange();
    }
    if (!step.plays) return;
    if (this.still.matches) this.seek(step.stand);
    else this.run(step.stand);
  }

  showCaption(step) {
    this.caption.replaceChildren();
    if (this.data.steps.length > 1 || step.title !== this.data.title) {
      const of = this.data.steps.length > 1 ? `step ${this.number + 1} of ${this.data.steps.length}` : "";
      this.caption.append(make("h2", {}, step.title, " ", make("span", { class: "of" }, of)));
    }
    if (this.number === 0 && this.data.introduction.length) {
      this.caption.append(make("div", { class: "introduction" }, ...this.data.introduction.map(rich)));
    }
    const parts = (step.caption || []).map(rich);
    if (step.foot) parts.push(make("p", { class: "foot-note" }, step.foot));
    if (step.question) this.caption.append(questionCard(step.question, () => this.playAnswer(step)));
    this.caption.append(...(step.question ? [make("div", { class: "explanation" }, ...parts)] : parts));
    this.caption.hidden = !this.caption.childNodes.length;
  }

  showPanes(step) {
    const tracks = (step.asking || step.tracks).map((number) => this.tracks[number]);
    const sessions = tracks.map((track) => this.data.sessions[track.data.session]);
    this.ends = sessions.map((session) => session.end);
    this.range = step.range;
    this.paneViews = tracks.map((track, i) => new PaneView(step, i, track, sessions[i]));
    this.panes.replaceChildren(...this.paneViews.map((view) => view.element));
    this.focus = step.focus;
    this.showSide();
    this.showTimelines();
    this.showLegend();
    this.showSpeeds(step.speed);
  }

  // A step without launches: a chart, or a sentence.
  showPicture(step) {
    this.paneViews = this.timelines = [];
    this.panes.replaceChildren();
    if (step.note) this.panes.append(make("p", { class: "quiet" }, step.note));
    if (!step.chart) return;
    this.chart = make("canvas", { class: "chart", role: "img", "aria-label": step.chart.title });
    const numbers = make("ul", {}, ...step.chart.numbers.map((text) => make("li", {}, text)));
    this.panes.append(make("figure", { class: "pane" }, this.chart, make("details", {}, make("summary", {}, "The numbers as text"), numbers)));
  }

  showSide() {
    const view = this.paneViews[this.focus], { session } = view;
    this.source = new SourceView(session, this.tables);
    this.phaseText = make("div", { class: "phase" });
    const sessions = this.paneViews.map((other, i) =>
      make("button", { class: "tab", "aria-pressed": String(i === this.focus), onclick: () => this.turnTo(i) }, other.title),
    );
    const tabs = make("div", { class: "tabs", role: "group", "aria-label": "Whose source" }, ...(sessions.length > 1 ? sessions : []));
    const title = make("h3", {}, "Source ", make("span", { class: "hint" }, session.counted));
    const findings = findingsList(session, (moment) => this.seek(playheadMoment(moment, this.focus, this.ends, this.current.link)));
    const parts = {
      source: [title, this.source.element],
      explain: [make("h3", {}, "Now"), this.phaseText],
      findings: [make("section", { class: "findings-part" }, make("h3", {}, "Findings"), findings)],
      warp: view.track.warp ? this.warpParts(session.warp) : [],
      why: this.whyParts(),
    };
    const first = parts[this.current.panel] ? this.current.panel : "source";
    const others = Object.keys(parts).filter((name) => name !== first);
    this.side.replaceChildren(tabs, ...[first, ...others].flatMap((name) => parts[name]));
  }

  // The path of the traced value of this step, in the pane in focus.
  whyParts() {
    const path = (this.current.paths || [])[this.focus];
    if (!path) return [];
    const go = (moment) => this.seek(playheadMoment(moment, this.focus, this.ends, this.current.link));
    return [make("h3", {}, `Why ${path.title}?`), pathList(path.sentences, go)];
  }

  warpParts(name) {
    this.warpPicture = make("canvas", { class: "warp", role: "img", "aria-label": "Picture of the selected warp's request" });
    this.warpText = make("p", { class: "warp-text" });
    return [make("h3", {}, name), this.warpPicture, this.warpText];
  }

  turnTo(pane) {
    this.focus = pane;
    this.showSide();
    this.arrange();
  }

  showTimelines() {
    this.timelines = this.paneViews.map((view, i) => {
      const canvas = make("canvas", {}), name = make("b", {}, view.title), block = make("span", {});
      const label = make("p", { class: "name" }, name, " ", block);
      const row = make("div", { class: "timeline", role: "slider", tabindex: 0, "aria-label": `Moment of ${view.title}` }, canvas);
      const asks = this.main.querySelector(".question:not(.revealed)");
      const path = asks ? null : (this.current.paths || [])[i];
      const timeline = new Timeline(view.session, this.tables, canvas, path ? path.marks : {});
      row.addEventListener("pointerdown", (event) => this.take(event, row, timeline, i));
      row.addEventListener("pointermove", (event) => timeline.drag && this.drag(event, timeline, i));
      for (const name of ["pointerup", "pointercancel"]) row.addEventListener(name, () => this.let(timeline));
      return { timeline, row, block, name, element: make("div", { class: "timeline-row" }, label, row) };
    });
    this.timelineRows.replaceChildren(...this.timelines.map(({ element }) => element));
  }

  showLegend() {
    if (!this.paneViews || !this.paneViews.length) return;
    const kinds = new Map(this.paneViews.flatMap(({ session }) => session.timeline.kinds));
    const rows = [...kinds].sort(([a], [b]) => a - b).map(([code, name]) => make("li", {}, swatch(this.tables, code), name));
    const outside = this.paneViews.map(({ session }) => session.timeline.outside).find(Boolean);
    if (outside) rows.push(make("li", {}, crossSwatch(this.tables), outside));
    this.legend.replaceChildren(...rows);
  }

  showSpeeds(usual) {
    const speeds = [...new Set([...SPEEDS, usual])].sort((a, b) => a - b);
    this.speed.replaceChildren(...speeds.map((speed) => make("option", { value: speed }, `${grouped(Number(speed.toPrecision(3)))} / s`)));
    this.speed.value = String(usual);
  }

  // Time.

  seek(position) {
    if (!this.range) return;
    this.position = Math.min(Math.max(position, this.range[0]), this.range[1]);
    if (this.playing) this.playing = { ...this.playing, time: null, position: this.position };
    this.draw();
  }

  // Go to the next whole moment of the pane in focus.
  step(direction) {
    this.pause();
    const { link } = this.current, here = paneMoments(this.position, this.ends, link)[this.focus];
    const next = direction > 0 ? Math.floor(here + 1e-6) + 1 : Math.ceil(here - 1e-6) - 1;
    if (next < 0 || next > this.ends[this.focus]) return this.seek(direction > 0 ? this.range[1] : this.range[0]);
    this.seek(playheadMoment(next, this.focus, this.ends, link));
  }

  // Go to where the next phase of a block begins, or this one or the one before.
  phase(direction) {
    this.pause();
    const { link } = this.current, view = this.paneViews[this.focus];
    const here = paneMoments(this.position, this.ends, link)[this.focus];
    const starts = new Set(Object.values(view.session.timeline.blocks).flatMap((block) => block.phases.map(([start]) => start + 1)));
    const found = [...starts].filter((moment) => (direction > 0 ? moment > Math.floor(here) : moment < Math.ceil(here)));
    if (!found.length) return this.seek(direction > 0 ? this.range[1] : this.range[0]);
    this.seek(playheadMoment(direction > 0 ? Math.min(...found) : Math.max(...found), this.focus, this.ends, link));
  }

  toggle() {
    if (this.playing) return this.rest();
    if (this.position >= this.range[1]) this.seek(this.range[0]);
    this.run(this.range[1]);
  }

  run(stop) {
    this.playing = { time: null, position: this.position, stop };
    for (const part of [this.caption, this.where]) part.setAttribute("aria-live", "off"); // too fast to be heard
    this.showPlay();
    requestAnimationFrame((time) => this.frame(time));
  }

  restart() {
    if (this.playing) this.playing = { ...this.playing, time: null, position: this.position };
  }

  // Pause at the current moment of the pane in focus, as the window does.
  rest() {
    this.pause();
    const here = Math.floor(this.moments()[this.focus]);
    this.seek(playheadMoment(here, this.focus, this.ends, this.current.link));
  }

  pause() {
    this.playing = null;
    for (const part of [this.caption, this.where]) part.setAttribute("aria-live", "polite");
    this.showPlay();
  }

  // The position follows from the time that has passed, so that a slow frame is dropped and nothing drifts.
  frame(time) {
    const { playing } = this;
    if (!playing) return;
    if (playing.time === null) playing.time = time;
    const moment = playing.position + ((time - playing.time) / 1000) * Number(this.speed.value);
    this.position = Math.min(moment, playing.stop);
    if (moment >= playing.stop) this.pause();
    this.draw();
    if (this.playing) requestAnimationFrame((next) => this.frame(next));
  }

  showPlay() {
    const name = this.playing ? "pause" : "play", label = this.playing ? "Pause" : "Play";
    if (this.play.dataset.name === name) return;
    this.play.dataset.name = name;
    this.play.setAttribute("title", `${label} (Space)`);
    this.play.replaceChildren(icon(name), make("span", {}, label));
  }

  // Dragging.

  take(event, row, timeline, pane) {
    if (event.button) return;
    row.setPointerCapture(event.pointerId);
    this.pause();
    timeline.drag = { part: timeline.partAt(event.clientY - timeline.canvas.getBoundingClientRect().top) };
    this.drag(event, timeline, pane);
  }

  drag(event, timeline, pane) {
    const { part } = timeline.drag, x = event.clientX - timeline.canvas.getBoundingClientRect().left;
    if (part === "strip") timeline.block = null; // another block may come into sight
    if (!timeline.block) timeline.show(timeline.number);
    const moment = timeline.momentAt(x, part);
    if (part === "strip") timeline.block = null;
    this.seek(playheadMoment(moment, pane, this.ends, this.current.link));
  }

  let(timeline) {
    timeline.drag = null;
    this.draw();
  }

  // Keys.

  key(event) {
    const { target } = event, many = this.data.steps.length > 1;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, input, textarea")) return;
    const run = this.keyed(event.key, event.shiftKey, many);
    if (!run || ((event.key === " " || event.key === "Enter") && target.closest("button, summary"))) return;
    event.preventDefault();
    run();
  }

  keyed(key, shift, many) {
    const turn = (way) => () => (many ? this.openStep(this.number + way, way > 0) : this.phase(way));
    const always = many ? { PageDown: turn(1), PageUp: turn(-1) } : {};
    if (!this.current.tracks) return always[key];
    const keys = {
      " ": () => this.toggle(), ArrowRight: () => (shift ? this.phase(1) : this.step(1)),
      ArrowLeft: () => (shift ? this.phase(-1) : this.step(-1)), PageDown: turn(1), PageUp: turn(-1),
      Home: () => this.seek(this.range[0]), End: () => this.seek(this.range[1]),
    };
    return keys[key];
  }

  // Drawing.

  moments() {
    return paneMoments(this.position, this.ends, this.current.link);
  }

  // A whole moment of each pane at rest, unless a fraction was asked for: as `Stage.shown_moments`.
  shownMoments() {
    const moments = this.moments();
    return this.playing || moments.every((moment) => moment % 1) ? moments : moments.map(Math.floor);
  }

  draw() {
    if (!this.current) return;
    if (!this.current.tracks) return this.drawChart();
    const moments = this.shownMoments(), size = this.pictureSize || [0, 0];
    this.paneViews.forEach((view, i) => view.draw(this.still.matches ? Math.floor(moments[i]) : moments[i], ...size));
    this.timelines.forEach(({ timeline, row, block }, i) => {
      const { track, session } = this.paneViews[i], now = Math.floor(moments[i]), number = track.block.at(now);
      timeline.draw(moments[i], number, track.data.thread, track.data.moments);
      if (!timeline.block) timeline.show(number);
      say(block, timeline.block.name);
      const [low, high] = track.data.moments, text = `moment ${grouped(now)} of ${grouped(session.end)}, ${track.place.at(now)}`;
      const told = { "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": now, "aria-valuetext": text };
      for (const [name, value] of Object.entries(told)) row.setAttribute(name, value);
    });
    this.drawSide(Math.floor(moments[this.focus]));
  }

  drawSide(now) {
    const { track, session } = this.paneViews[this.focus];
    this.source.draw(now, track.site.at(now) || [-1, 0], track.data.lines);
    if (track.warp) this.drawWarp(track.warp, now);
    const [label, sentence, facts, of] = track.phase.at(now) || ["", "", "", ""];
    if (this.phaseText.dataset.of !== facts + label) {
      this.phaseText.dataset.of = facts + label;
      this.phaseText.replaceChildren(make("p", {}, make("b", {}, label)), make("p", {}, sentence), make("p", {}, facts, " ", mark(of)));
    }
    if (!this.where.firstChild) this.where.append(make("b", {}), make("span", {}));
    say(this.where.firstChild, `moment ${grouped(now)} of ${grouped(session.end)}`);
    say(this.where.lastChild, track.place.at(now) || "");
  }

  drawWarp(film, now) {
    const width = Math.min(this.side.clientWidth - 26, 1.3 * film.width), height = (width / film.width) * film.height;
    this.warpPicture.style.width = `${width}px`;
    this.warpPicture.style.height = `${height}px`;
    if (fit(this.warpPicture, width, height)) film.draw(this.warpPicture, now);
    say(this.warpText, film.says.at(now) || "");
  }

  drawChart() {
    if (!this.current.chart || !this.chart || !this.panes.clientWidth) return;
    const room = this.panes.clientWidth - 24, { forms } = this.current.chart;
    const { size, drawing } = forms.filter(({ size: [width] }) => width <= room).at(-1) || forms[0];
    const high = window.innerHeight - this.panes.offsetTop - 90; // in which all of it is in sight
    const width = Math.min(room, Math.min(LARGEST_CHART, Math.max(1, high / size[1])) * size[0]);
    const height = (width / size[0]) * size[1];
    this.chart.style.width = `${width}px`;
    this.chart.style.height = `${height}px`;
    if (!fit(this.chart, width, height)) return;
    const context = this.chart.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    new Brush(this.tables, context, this.chart.width / size[0]).draw(drawing, 0);
  }

  // Share the room: pictures as large as width and height of the window allow, above a foot that stays in sight.
  arrange() {
    if (!this.current) return;
    const narrow = document.documentElement.clientWidth < NARROW;
    document.documentElement.dataset.narrow = String(narrow);
    if (this.current.tracks) {
      this.timelines.forEach(({ element }, i) => (element.hidden = narrow && i !== this.focus));
      (narrow ? this.side : this.transport).append(this.legend);
      this.pictureSize = this.sizeOfPictures(narrow);
    }
    this.draw();
  }

  sizeOfPictures(narrow) {
    const [view] = this.paneViews, { track } = view, shape = track.height / track.width;
    const room = view.canvas.parentElement.clientWidth;
    if (narrow) return [room, room * shape];
    const beside = this.foot.offsetHeight + this.head.offsetHeight;
    const texts = Math.max(...this.paneViews.map(({ element, canvas }) => element.offsetHeight - canvas.offsetHeight));
    const above = this.caption.hidden ? 0 : this.caption.offsetHeight;
    const least = Math.min(room, 340) * shape;
    const height = Math.max(least, Math.min(room * shape, window.innerHeight - beside - texts - above - 40));
    return [height / shape, height];
  }
}

// A notebook's output sends {dark} to the frame that this page is in, once it is loaded and at each change.
let hostIsDark = null;
window.addEventListener("message", (event) => {
  if (event.source !== window.parent || window.parent === window || typeof event.data?.dark !== "boolean") return;
  hostIsDark = event.data.dark;
  window.dispatchEvent(new Event("hosttheme"));
});

async function main() {
  if (!("DecompressionStream" in window)) return; // as the page says by now
  try {
    const data = await unpack(document.getElementById("data").textContent);
    window.replay = new Page(data);
  } catch (error) {
    document.body.replaceChildren(make("p", { class: "message" }, "This replay can't be opened: its file is damaged or was cut short."));
    throw error;
  }
}

main();
