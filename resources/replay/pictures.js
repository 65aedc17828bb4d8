// Pictures: drawings played again on a canvas, at any size and density, in the light or the dark colours.

const UNITS = 100, TENTHS = 10; // to a logical pixel, in which lengths and the ends of ways are written
const NOTHING = -1, ALWAYS = 0, STANDING = 1, MOVING = 2;
const BEND = 0.14; // how far an arc leaves the straight line, as a share of its length
const CAPS = ["butt", "square", "round"], JOINS = ["miter", "bevel", "round"];
const KEPT_IMAGES = 64;

class Tables {
  constructor(data) {
    this.data = data;
    this.dark = 0; // the place of the colours in their pairs
    this.paths = new Map();
    this.images = new Map(); // by number, the latest last: places of pixels among the pairs of colours
    this.painted = new Map(); // by number and theme, as canvases
    const families = (names, last) => [...names.map((name) => `"${name}"`), last].join(", ");
    this.sans = families(data.look.sans, "sans-serif");
    this.mono = families(data.look.mono, "monospace");
    this.widths = new Map();
  }

  colour(number) {
    return this.data.colours[number][this.dark];
  }

  font(number) {
    const [size, bold, italic, mono] = this.data.fonts[number];
    return `${italic ? "italic " : ""}${bold ? "bold " : ""}${size}px ${mono ? this.mono : this.sans}`;
  }

  path(text) {
    if (!this.paths.has(text)) {
      if (this.paths.size > 4000) this.paths.clear();
      this.paths.set(text, new Path2D(text));
    }
    return this.paths.get(text);
  }

  // The pixels of an image: what differs from an earlier one, as runs of one value.
  pixels(number) {
    const known = this.images.get(number);
    if (known) return known;
    const chain = [];
    let base = number, before = null;
    for (;;) {
      chain.push(base);
      const back = this.data.images[base][2];
      if (!back) break;
      base -= back;
      if ((before = this.images.get(base))) break;
    }
    const [width, height] = this.data.images[number];
    const places = before ? Int32Array.from(before) : new Int32Array(width * height);
    for (const one of chain.reverse()) {
      const runs = this.data.images[one];
      let at = 0;
      for (let i = 3; i < runs.length; i += 3) {
        at += runs[i];
        places.fill(runs[i + 2], at, (at += runs[i + 1]));
      }
    }
    keep(this.images, number, places);
    return places;
  }

  canvas(number) {
    const key = `${number} ${this.dark}`;
    const known = this.painted.get(key);
    if (known) return known;
    const [width, height] = this.data.images[number];
    const canvas = make("canvas", { width, height });
    const image = new ImageData(width, height), shades = new Uint32Array(image.data.buffer);
    const places = this.pixels(number), table = new Map();
    for (let i = 0; i < places.length; i++) {
      let shade = table.get(places[i]);
      if (shade === undefined) table.set(places[i], (shade = abgr(this.colour(places[i]))));
      shades[i] = shade;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    keep(this.painted, key, canvas);
    return canvas;
  }

  // The width of a text in this browser's letters.
  width(context, font, text) {
    const key = `${font} ${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      context.font = this.font(font);
      width = context.measureText(text).width;
      this.widths.set(key, width);
    }
    return width;
  }
}

function keep(table, key, value) {
  table.set(key, value);
  if (table.size > KEPT_IMAGES) table.delete(table.keys().next().value);
}

// "#rrggbb" or "#rrggbbaa" as the canvas has it in memory, lowest byte first.
function abgr(colour) {
  const number = parseInt(colour.slice(1, 7), 16), alpha = colour.length > 7 ? parseInt(colour.slice(7), 16) : 255;
  return ((alpha << 24) | ((number & 255) << 16) | (number & 0xff00) | (number >> 16)) >>> 0;
}

// Draws drawings into a context: `scale` device pixels to a logical one.
class Brush {
  constructor(tables, context, scale) {
    this.tables = tables;
    this.context = context;
    this.scale = scale;
    this.unit = scale / UNITS;
    this.theme = 2; // of what is drawn now: 0 and 1 for one theme alone
  }

  // Draw a drawing; `fraction`: how far loads have travelled.
  draw(number, fraction) {
    const { context } = this;
    context.save();
    this.theme = 2;
    let clipped = false;
    for (const each of this.tables.data.drawings[number]) {
      const operation = this.tables.data.operations[each];
      if (operation[0] === "s") {
        this.theme = operation[1];
      } else if (operation[0] === "c") {
        if (clipped) context.restore();
        clipped = operation[1] !== "";
        if (clipped) {
          context.save();
          this.scaled(() => context.clip(this.tables.path(operation[1]), "evenodd"));
        }
      } else if (this.theme === 2 || this.theme === this.tables.dark) {
        this[operation[0]](operation, fraction);
      }
    }
    if (clipped) context.restore();
    context.restore();
  }

  scaled(draw) {
    const { context, unit } = this;
    context.setTransform(unit, 0, 0, unit, 0, 0);
    draw();
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  // Take a pen; return the width of its line in device pixels.
  pen(number) {
    const { context, unit } = this, [colour, width, cap, join, dashes] = this.tables.data.pens[number];
    context.strokeStyle = this.tables.colour(colour);
    context.lineCap = CAPS[cap];
    context.lineJoin = JOINS[join];
    context.lineWidth = width * unit;
    context.setLineDash(dashes.map((dash) => dash * unit));
    return width * unit;
  }

  // The same for what is drawn in hundredths of a pixel.
  coarsePen(number) {
    const [, width, , , dashes] = this.tables.data.pens[number];
    this.pen(number);
    this.context.lineWidth = width;
    this.context.setLineDash(dashes);
  }

  r([, fill, pen, smooth, ...boxes]) {
    const { context, unit } = this;
    for (let i = 0; i < boxes.length; i += 4) {
      let [x, y, width, height] = boxes.slice(i, i + 4).map((length) => length * unit);
      if (!smooth || pen === NOTHING) [x, y, width, height] = whole(x, y, width, height, smooth);
      if (fill !== NOTHING) {
        context.fillStyle = this.tables.colour(fill);
        context.fillRect(x, y, width, height);
      }
      if (pen !== NOTHING) {
        this.pen(pen);
        context.strokeRect(x, y, width, height);
      }
    }
  }

  e([, fill, pen, , x, y, width, height]) {
    const path = new Path2D();
    path.ellipse(x + width / 2, y + height / 2, width / 2, height / 2, 0, 0, 2 * Math.PI);
    this.shape(fill, pen, path, "nonzero");
  }

  p([, fill, pen, , odd, text]) {
    this.shape(fill, pen, this.tables.path(text), odd ? "evenodd" : "nonzero");
  }

  shape(fill, pen, path, rule) {
    const { context } = this;
    this.scaled(() => {
      if (fill !== NOTHING) {
        context.fillStyle = this.tables.colour(fill);
        context.fill(path, rule);
      }
      if (pen !== NOTHING) {
        this.coarsePen(pen);
        context.stroke(path);
      }
    });
  }

  l([, pen, smooth, ...ends]) {
    const { context, unit } = this;
    if (pen === NOTHING) return;
    const wide = this.pen(pen), thin = this.tables.data.pens[pen][1] <= UNITS; // as between cells: a pixel on any screen
    const width = thin ? 1 : Math.max(1, Math.round(wide));
    context.beginPath();
    for (let i = 0; i < ends.length; i += 4) {
      let [x, y, x1, y1] = ends.slice(i, i + 4).map((length) => length * unit);
      if (!smooth && x === x1) x = x1 = Math.floor(x) + width / 2;
      if (!smooth && y === y1) y = y1 = Math.floor(y) + width / 2;
      context.moveTo(x, y);
      context.lineTo(x1, y1);
    }
    if (!smooth) {
      context.lineWidth = width;
      context.lineCap = "butt";
    }
    context.stroke();
  }

  o([, pen, ...points]) {
    if (pen === NOTHING) return;
    const side = this.pen(pen), [colour] = this.tables.data.pens[pen];
    this.squares(colour, side, points.map((length) => length * this.unit));
  }

  squares(colour, side, points) {
    const { context } = this;
    context.fillStyle = this.tables.colour(colour);
    context.beginPath();
    for (let i = 0; i < points.length; i += 2) {
      context.rect(points[i] - side / 2, points[i + 1] - side / 2, side, side);
    }
    context.fill();
  }

  // Loads on their ways, in gentle arcs that all bend upwards, slow at both ends: as app/views/memory/loads.py has them.
  w([, colour, side, ...ends], fraction) {
    const t = fraction * fraction * (3 - 2 * fraction), scale = this.scale / TENTHS, points = [];
    for (let i = 0; i < ends.length; i += 4) {
      const [x, y, x1, y1] = ends.slice(i, i + 4);
      let across = -(y1 - y) * BEND, down = (x1 - x) * BEND;
      if (down > 0) [across, down] = [-across, -down];
      const first = (1 - t) * (1 - t), second = 2 * t * (1 - t);
      points.push((first * x + second * ((x + x1) / 2 + across) + t * t * x1) * scale);
      points.push((first * y + second * ((y + y1) / 2 + down) + t * t * y1) * scale);
    }
    this.squares(colour, side * this.unit, points);
  }

  // A text keeps the room that it had where it was drawn: other letters stand closer together, or farther apart.
  t([, colour, font, x, y, width, quarter, text]) {
    const { context, scale, tables } = this;
    const room = width / UNITS, natural = tables.width(context, font, text);
    context.save();
    context.setTransform(scale, 0, 0, scale, x * this.unit, y * this.unit);
    if (quarter) context.rotate((quarter * Math.PI) / 2);
    context.font = tables.font(font);
    context.fillStyle = tables.colour(colour);
    context.textBaseline = "alphabetic";
    const letters = [...text].length, gap = (room - natural) / letters;
    if (Math.abs(gap) > 0.01 && natural > 0) {
      if ("letterSpacing" in context && gap > -1) context.letterSpacing = `${gap.toFixed(3)}px`;
      else context.scale(room / natural, 1);
    }
    context.fillText(text, 0, 0);
    context.restore();
  }

  i([, image, smooth, opacity, ...box]) {
    const { context } = this, [x, y, width, height] = box.map((length) => length * this.unit);
    context.imageSmoothingEnabled = Boolean(smooth);
    context.globalAlpha = opacity;
    context.drawImage(this.tables.canvas(image), ...whole(x, y, width, height, 0));
    context.globalAlpha = 1;
  }
}

// A box on whole pixels: sharp edges. Smooth ones stay where they are unless they are wide.
function whole(x, y, width, height, smooth) {
  const left = Math.round(x), top = Math.round(y);
  const wide = Math.round(x + width) - left, high = Math.round(y + height) - top;
  if (smooth && (wide < 3 || high < 3)) return [x, y, width, height];
  return [left, top, Math.max(1, wide), Math.max(1, high)];
}

// A picture that changes with the moment: pieces from the lowest to the highest, each with its drawings.
class Film {
  constructor({ size, slots, says }, tables) {
    this.tables = tables;
    [this.width, this.height] = size;
    this.slots = slots.map(([when, ...changes]) => ({ when, drawings: new Changes(changes) }));
    this.says = new Changes(says);
  }

  draw(canvas, moment) {
    const context = canvas.getContext("2d"), scale = canvas.width / this.width;
    const now = Math.floor(moment), fraction = moment - now, brush = new Brush(this.tables, context, scale);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (const { when, drawings } of this.slots) {
      if (when === (fraction ? STANDING : MOVING)) continue;
      const drawing = drawings.at(now);
      if (drawing !== undefined && drawing !== NOTHING) brush.draw(drawing, fraction);
    }
  }
}

// A pane's moments, ready to be drawn and told.
class Track extends Film {
  constructor(data, tables) {
    super(data, tables);
    this.data = data;
    this.warp = data.warp && new Film(data.warp, tables);
    for (const name of ["block", "place", "phase", "site"]) this[name] = new Changes(data[name]);
  }
}

// Give a canvas as many pixels as it takes on the screen; return whether there are any.
function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  return wide > 0 && high > 0;
}
