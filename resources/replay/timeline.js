// The timeline: a block's warps moment by moment, its phases, all blocks above them; it is what one drags.

const STRIP = 8, HANDLE = 11, BAND = 15, AXIS = 16, EDGE = 8; // heights, and the space at both ends, in CSS pixels
const GAP = 3, PATTERN = 5, PITCH = 6; // the smallest cell with a gap around it, with a pattern; of a hatch
const LOW = 860, ROWS = 66, LOW_ROWS = 48; // of the window; of all rows, and of these in a window lower than that
const PATH_SHARE = 0.36, NARROWEST = 2.5; // of a path: a mark's share of a row's height, and its least width
const FOOT = 5, LINE = 2, LOWEST = 9; // of a bracket of an order: its ends, its thickness, the lowest row with names
const ARM = 3.5; // half of a cross, in CSS pixels
const CODE = "0".charCodeAt(0), MOST_ROW = 22;

class Timeline {
  constructor(session, tables, element, marks) {
    this.session = session;
    this.marks = marks; // of a value's path: by block, the warp, the moment and whether there is a fault
    this.data = session.timeline;
    this.tables = tables;
    this.canvas = element;
    this.still = document.createElement("canvas");
    this.bars = this.allBars();
    this.drag = null;
    this.key = "";
  }

  allBars() {
    const { starts, ends, lanes, numbers } = this.data, first = summed(starts), last = summed(ends);
    return summed(numbers).map((number, i) => ({ number, start: first[i], end: last[i], lane: lanes[i] }));
  }

  get rowHeight() {
    const { warps } = this.data, room = window.innerHeight < LOW ? LOW_ROWS : ROWS;
    return Math.max(2, Math.min(MOST_ROW, Math.max(3, Math.floor(room / warps)), 8 + 8 / warps));
  }

  get height() {
    return 2 + STRIP + HANDLE + BAND + Math.round(this.rowHeight * this.data.warps) + AXIS;
  }

  get top() {
    return 2 + STRIP + HANDLE + BAND;
  }

  get width() {
    return this.canvas.clientWidth;
  }

  x(moment) {
    const [first, last] = this.block.range;
    return EDGE + ((moment - first) / (last - first)) * (this.width - 2 * EDGE);
  }

  stripX(moment) {
    return EDGE + (Math.min(Math.max((moment - 1) / Math.max(1, this.session.end), 0), 1)) * (this.width - 2 * EDGE);
  }

  // The moment at a place, as far as it is drawn there.
  momentAt(x, part) {
    const share = (x - EDGE) / (this.width - 2 * EDGE);
    if (part === "strip") return Math.min(Math.max(share * this.session.end + 1, 0), this.session.end);
    const [first, last] = this.block.range;
    return Math.min(Math.max(first + share * (last - first), Math.max(0, first)), Math.min(last, this.session.end));
  }

  // A finger needs more room than a pointer.
  partAt(y) {
    return y < 2 + STRIP + (window.matchMedia("(pointer: coarse)").matches ? HANDLE : 3) ? "strip" : "rows";
  }

  draw(moment, block, thread, shown) {
    if (!this.drag || !this.block) this.show(block);
    this.canvas.style.height = `${this.height}px`;
    if (!this.width || !fit(this.canvas, this.width, this.height)) return;
    const ratio = this.canvas.width / this.width, context = this.canvas.getContext("2d");
    const key = [this.number, this.canvas.width, this.tables.dark, thread, ...shown].join(" ");
    if (key !== this.key) {
      this.key = key;
      this.still.width = this.canvas.width;
      this.still.height = this.canvas.height;
      this.drawStill(this.still.getContext("2d"), ratio, thread, shown);
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.still, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawPlayhead(context, moment);
  }

  show(block) {
    this.number = block;
    this.block = this.data.blocks[block];
  }

  ink(name) {
    return this.tables.data.look.palette[name][this.tables.dark];
  }

  kind(code, part = "colour") {
    return this.tables.data.look.kinds[code][part][this.tables.dark];
  }

  drawStill(context, ratio, thread, shown) {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.ink("panel");
    context.fillRect(0, 0, this.still.width, this.still.height);
    this.drawRows(context, ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawStrip(context, shown);
    this.drawBands(context, ratio);
    this.drawAxis(context);
    this.drawOrder(context);
    this.drawPath(context);
    this.drawOutside(context);
    if (this.data.warps > 1) this.drawMark(context, Math.floor(thread / 32));
  }

  // All blocks of the grid, of which the one that is looked at stands out; what the page has not is fainter.
  drawStrip(context, [low, high]) {
    const lanes = 1 + Math.max(0, ...this.bars.map((bar) => bar.lane)), tall = STRIP / Math.min(lanes, STRIP / 2);
    const right = this.width - EDGE, most = Math.max(1, this.session.end);
    const place = (moment) => EDGE + (moment / most) * (right - EDGE);
    context.fillStyle = this.ink("badge");
    context.fillRect(EDGE, 2, right - EDGE, STRIP);
    for (const bar of this.bars) {
      const x = place(bar.start), width = place(bar.end) - x;
      context.globalAlpha = bar.end <= low || bar.start >= high ? 0.25 : 0.6;
      context.fillStyle = this.ink("muted");
      context.fillRect(x, 2 + ((bar.lane * tall) % STRIP), Math.max(width - (width > 4 ? 1 : 0), 0.5), tall > 2 ? tall - 0.5 : tall);
    }
    context.globalAlpha = 1;
    const mine = this.bars.find((bar) => bar.number === this.number);
    if (mine) {
      const x = place(mine.start), width = Math.max(place(mine.end) - x, 3), y = 2 + ((mine.lane * tall) % STRIP);
      context.fillStyle = this.ink("accent");
      context.fillRect(x, y, width, tall);
      context.strokeStyle = this.ink("text");
      context.lineWidth = 1;
      context.strokeRect(x, Math.max(1.5, y - 0.5), width, Math.min(tall + 1, STRIP));
    }
  }

  drawBands(context, ratio) {
    context.font = `bold 11px ${this.tables.sans}`;
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(EDGE, 0, this.width - 2 * EDGE, this.height);
    context.clip();
    for (const [start, end, meets, label] of this.block.phases) {
      const left = Math.max(this.x(start + 1), EDGE), right = this.x(end + 1);
      const fits = [label, label.split(" ")[0]].find((text) => context.measureText(text).width + 8 <= right - left);
      context.fillStyle = this.ink("muted");
      if (fits) context.fillText(fits, left + 4, this.top - BAND / 2);
      if (meets && right - left >= 4) {
        const wide = Math.max(1, Math.round(1.6 * ratio)) / ratio, x = Math.round(right * ratio) / ratio - wide;
        context.fillStyle = this.ink("text");
        context.fillRect(x, this.top - BAND + 2, wide, this.height - AXIS - this.top + BAND - 2);
      }
    }
    context.restore();
  }

  drawAxis(context) {
    const [first, last] = this.block.range, y = this.height - AXIS, step = wholeStep(last - first, this.width / 90);
    context.font = `10px ${this.tables.sans}`;
    context.textBaseline = "top";
    context.textAlign = "center";
    context.fillStyle = this.ink("muted");
    for (let moment = Math.ceil(first / step) * step; moment <= last; moment += step) {
      const text = grouped(moment), half = context.measureText(text).width / 2, x = this.x(moment);
      context.fillRect(x, y + 1, 1, 3);
      context.fillText(text, Math.min(Math.max(x, EDGE + half), this.width - EDGE - half), y + 5);
    }
    context.textAlign = "start";
  }

  // A bracket over the moments in which an order chose threads, as in app/views/timeline/order_marks.py.
  drawOrder(context) {
    const tall = this.rowHeight;
    context.font = `bold 8.5px ${this.tables.sans}`;
    context.textBaseline = "top";
    for (const [warp, first, last, name] of this.block.order) {
      const left = Math.max(this.x(first), EDGE), right = Math.min(this.x(last + 1), this.width - EDGE);
      if (right - left < 1) continue;
      const wide = right - left - 1, y = this.top + warp * tall, foot = Math.min(FOOT, tall);
      const parts = [[left, wide, LINE], [left, LINE, foot], [left + wide - LINE, LINE, foot]];
      context.fillStyle = this.ink("panel");
      for (const [x, w, h] of parts) context.fillRect(x, y, w + 1, h + 1);
      context.fillStyle = this.ink("text");
      for (const [x, w, h] of parts) context.fillRect(x, y, w, h);
      const text = context.measureText(name).width + 4;
      if (tall < LOWEST || text > wide - 2 * LINE) continue;
      const x = (left + right - text) / 2;
      context.fillStyle = this.ink("panel");
      context.fillRect(x, y + LINE, text, Math.min(tall - LINE, 11));
      context.fillStyle = this.ink("text");
      context.fillText(name, x + 2, y + LINE);
    }
  }

  // A bar at the foot of the row for each access of a path; a fault has a taller bar, as in app/views/timeline/value_path.py.
  drawPath(context) {
    const tall = this.rowHeight, marks = this.marks[this.number] || [];
    for (const [warp, moment, fault] of [...marks].sort((one, other) => one[2] - other[2])) {
      const left = this.x(moment), right = this.x(moment + 1);
      if (right < EDGE || left > this.width - EDGE) continue;
      const wide = Math.max(NARROWEST, (right - left) * 0.8), high = Math.min(tall, Math.max(2, tall * (fault ? 0.8 : PATH_SHARE)));
      const x = (left + right - wide) / 2, y = this.top + (warp + 1) * tall - high;
      context.fillStyle = this.ink("panel");
      context.fillRect(x - 1, y - 1, wide + 2, high + 1);
      context.fillStyle = this.ink(fault ? "bad" : "text");
      context.fillRect(x, y, wide, high);
    }
  }

  // A red cross for each access outside its array; a line where a moment is narrow.
  drawOutside(context) {
    const tall = this.rowHeight, arm = Math.min(ARM, tall / 3);
    for (const [warp, moment] of this.block.outside) {
      const left = this.x(moment), right = this.x(moment + 1), y = this.top + (warp + 0.5) * tall;
      if (right < EDGE || left > this.width - EDGE) continue;
      if (right - left < 4 * arm) {
        context.fillStyle = this.ink("bad");
        context.fillRect((left + right) / 2 - 0.75, y - tall / 2, 1.5, tall);
      } else drawCross(context, (left + right) / 2, y, arm, Math.min(1.8 * arm, tall / 2), (name) => this.ink(name));
    }
  }

  drawMark(context, warp) {
    const y = this.top + (warp + 0.5) * this.rowHeight;
    context.fillStyle = this.ink("text");
    context.beginPath();
    context.moveTo(EDGE - 1, y);
    context.lineTo(EDGE - 7, y - 4.5);
    context.lineTo(EDGE - 7, y + 4.5);
    context.fill();
  }

  drawPlayhead(context, moment) {
    const x = this.x(moment), bottom = this.height - AXIS, top = 2 + STRIP + 1, strip = this.stripX(moment);
    context.fillStyle = this.ink("text");
    context.fillRect(strip - 0.75, 0, 1.5, STRIP + 4);
    if (x < EDGE - 1 || x > this.width - EDGE + 1) return;
    const left = this.x(Math.floor(moment)), right = this.x(Math.floor(moment) + 1);
    if (right - left >= 4 && moment >= 1) {
      for (const y of [this.top - 2, bottom]) context.fillRect(left, y, right - left, 2);
    }
    context.fillRect(x - 1, top, 2, bottom - top + 2);
    context.beginPath();
    context.moveTo(x - 7, top);
    context.lineTo(x + 7, top);
    context.lineTo(x, top + 9);
    context.fill();
  }

  // The rows, device pixel by device pixel. Where one holds many moments its rows show them in turn: no colour is mixed.
  drawRows(context, ratio) {
    const rows = this.block.rows, warps = rows.length, [low, high] = this.block.range, { first } = this.block;
    const left = Math.round(EDGE * ratio), width = Math.round((this.width - EDGE) * ratio) - left;
    const tall = Math.max(2, Math.floor(this.rowHeight * ratio)), each = (high - low) / width;
    if (width < 1 || !rows[0]) return;
    const image = context.createImageData(width, tall * warps), shades = new Uint32Array(image.data.buffer);
    const gap = tall >= GAP * ratio ? Math.max(1, Math.round(ratio)) : 0;
    const cells = this.cells(1 / each, tall, gap, ratio), panel = abgr(this.ink("panel"));
    const waiting = this.tables.data.look.kinds.length - 1, hatch = abgr(this.kind(waiting)), pitch = Math.round(PITCH * ratio);
    for (let y = 0; y < tall * warps; y++) {
      const row = rows[Math.floor(y / tall)], v = y % tall, inner = each > 1 ? (v + 0.5) / tall : 0.5;
      for (let x = 0; x < width; x++) {
        const moment = Math.floor(low + (x + inner) * each), column = moment - first;
        const code = column >= 0 && column < row.length ? row.charCodeAt(column) - CODE : 0;
        let shade = panel;
        if (code === waiting) {
          if ((x + y) % pitch < Math.max(1, Math.floor(pitch / 3)) && v < tall - 1) shade = hatch;
        } else if (code) {
          const u = x - Math.ceil((moment - low) / each - 0.5), cell = cells[code];
          shade = cell.shades[v * cell.wide + Math.min(Math.max(u, 0), cell.wide - 1)];
        }
        shades[y * width + x] = shade;
      }
    }
    context.putImageData(image, left, Math.round(this.top * ratio));
  }

  // A cell of each look, with a gap at its left and at its foot.
  cells(length, tall, gap, ratio) {
    const wide = length >= GAP * ratio ? Math.ceil(length) + 1 : 1, across = wide > 1 ? Math.max(1, Math.round(ratio)) : 0;
    const patterned = Math.min(length, tall) >= PATTERN * ratio, ground = abgr(this.ink("grid"));
    return this.tables.data.look.kinds.map((kind, code) => {
      const shades = new Uint32Array(wide * tall).fill(ground);
      if (!kind.light) return { wide, shades };
      const colours = ["colour", "light", "dark"].map((part) => abgr(this.kind(code, part)));
      const inner = wide - across, high = tall - gap;
      const times = Math.max(1, Math.floor(inner / (5 * high)));
      for (let v = 0; v < high; v++) {
        for (let u = 0; u < inner; u++) {
          const part = Math.min(Math.floor((u * times) / inner), times - 1);
          const from = Math.floor((part * inner) / times), to = Math.floor(((part + 1) * inner) / times);
          const which = patterned ? patternAt(kind.name, u - from, v, to - from, high) : 0;
          shades[v * wide + across + u] = colours[which];
        }
      }
      return { wide, shades };
    });
  }
}

// What a kind shows at a place of its cell, as app/widgets/patterns.py has it: its colour (0), a light (1) or dark (2) one.
function patternAt(name, x, y, width, height) {
  const [space, verb] = name.split(" "), least = Math.min(width, height);
  if (verb === "store" && y >= height - Math.max(1, Math.round(height * 0.3))) return 2;
  if (space === "constant") return x < Math.max(1, Math.floor(width / 5)) ? 2 : 0;
  if (space === "local") return x < Math.max(1, Math.floor(width / 5)) ? 1 : 0;
  const dx = Math.abs(x - (width - 1) / 2), dy = Math.abs(y - (height - 1) / 2);
  if (space === "shared") {
    const side = Math.max(1, Math.round(least * 0.3)), left = Math.floor((width - side) / 2);
    const top = Math.max(0, Math.round(height * 0.5) - Math.floor(side / 2) - Math.floor(side / 3));
    return x >= left && x < left + side && y >= top && y < top + side ? 1 : 0;
  }
  if (space === "atomic") {
    const arm = least * 0.36, thick = Math.max(0.5, least * 0.09);
    return (dx <= arm && dy <= thick) || (dy <= arm && dx <= thick) ? 1 : 0;
  }
  if (space === "warp") {
    return Math.abs(dx - dy) <= Math.max(0.7, least * 0.08) && dx <= least * 0.32 ? 1 : 0;
  }
  return 0;
}

// A step of 1, 2 or 5 times a power of ten, of which at most so many lie in a length.
function wholeStep(length, most) {
  const least = Math.max(1, length / Math.max(1, most)), power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least);
}

// A red cross on a disc of the panel's colour.
function drawCross(context, x, y, arm, high, ink) {
  context.fillStyle = ink("panel");
  context.beginPath();
  context.ellipse(x, y, 1.8 * arm, high, 0, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = ink("bad");
  context.lineWidth = 1.8;
  context.beginPath();
  context.moveTo(x - arm, y - arm);
  context.lineTo(x + arm, y + arm);
  context.moveTo(x - arm, y + arm);
  context.lineTo(x + arm, y - arm);
  context.stroke();
}

// The cross for the legend.
function crossSwatch(tables) {
  const side = 14, ratio = window.devicePixelRatio || 1, size = Math.round(side * ratio);
  const canvas = make("canvas", { width: size, height: size, class: "swatch", "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  drawCross(context, side / 2, side / 2, ARM, 1.8 * ARM, (name) => tables.data.look.palette[name][tables.dark]);
  return canvas;
}

// A square of a kind for the legend.
function swatch(tables, code) {
  const side = 14, ratio = window.devicePixelRatio || 1, size = Math.round(side * ratio);
  const canvas = make("canvas", { width: size, height: size, class: "swatch", "aria-hidden": "true" });
  const context = canvas.getContext("2d"), kind = tables.data.look.kinds[code], dark = tables.dark;
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const lines = (x + y) % Math.round(PITCH * ratio) < Math.max(1, Math.floor(Math.round(PITCH * ratio) / 3));
      const part = kind.light ? ["colour", "light", "dark"][patternAt(kind.name, x, y, size, size)] : "colour";
      context.fillStyle = kind.light || lines ? kind[part][dark] : tables.data.look.palette.panel[dark];
      context.fillRect(x, y, 1, 1);
    }
  }
  return canvas;
}
