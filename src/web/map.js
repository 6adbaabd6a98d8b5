// The fabric drawn: faceplates of switches and hosts in SVG, a heat map of rails and hosts on a
// canvas where there are many, sparklines.
'use strict';

/// Whether a port is marked beside its colour.
Weir.isOver = (quantity, cell, topology) => {
  if (cell === Weir.GAP || cell === undefined) return false;
  if (quantity === 'pause') return cell >= Weir.cellOfShare(topology.pause_limit);
  return quantity === 'drops' && cell > 0;
};

Weir.worstOf = (ports, cells) => {
  let worst = Weir.GAP;
  for (const port of ports) {
    const cell = cells?.[port.index] ?? Weir.GAP;
    if (cell !== Weir.GAP && (worst === Weir.GAP || cell > worst)) worst = cell;
  }
  return worst;
};

Weir.railBar = (topology, pick) => Weir.el('div', {class: 'switches', role: 'group', 'aria-label': 'Rails'},
  topology.rails.map((rail) => Weir.el('button', {type: 'button', 'data-rail': rail,
    on: {click: () => pick({rail})}}, `rail ${rail}`)));

/// Up to 64 hosts: every port is a cell of its device, devices stand tier above tier.
Weir.SvgMap = class {
  constructor(parent, topology, palette, pick) {
    this.topology = topology;
    this.palette = palette;
    this.pick = pick;
    this.cells = new Map();    // port -> {rect, x, y, size, byte, mark}
    this.links = [];
    this.boxes = new Map();    // device -> box
    this.width = Math.max(320, parent.clientWidth || 900);
    this.isNarrow = this.width < 640;    // a phone: names stay legible, rows are more
    this.root = Weir.svg('svg', {role: 'group', 'aria-label': 'Map of the fabric'});
    this.root.append(Weir.svg('defs', {}, Weir.svg('pattern',
      {id: 'hatch', width: 4, height: 4, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
      Weir.svg('rect', {width: 4, height: 4, fill: palette.gap}),
      Weir.svg('rect', {width: 1.5, height: 4, fill: palette.line}))));
    this.linkLayer = Weir.svg('g');
    this.deviceLayer = Weir.svg('g');
    this.overlay = Weir.svg('g');
    this.root.append(this.linkLayer, this.deviceLayer, this.overlay);
    const bottom = this.layOut();
    this.root.setAttribute('viewBox', `0 0 ${this.width} ${bottom}`);
    this.drawLinks();
    parent.replaceChildren(...(topology.rails.length > 1 ? [Weir.railBar(topology, pick)] : []), this.root);
    this.root.addEventListener('click', (event) => this.clicked(event));
    this.root.addEventListener('keydown', (event) => this.pressed(event));
  }

  layOut() {
    let y = 4;
    const tiers = [...new Set(this.topology.switches.map((d) => d.tier))].sort((a, b) => b - a);
    for (const tier of tiers)
      y = this.layOutRow(this.topology.switches.filter((d) => d.tier === tier), y, this.isNarrow ? 12 : 34) + 46;
    if (tiers.length === 0) y += 6;
    const hosts = this.topology.hosts;
    const perRow = Math.min(hosts.length, this.isNarrow ? 8 : 16);
    for (let i = 0; i < hosts.length; i += perRow)
      y = this.layOutRow(hosts.slice(i, i + perRow), y, this.isNarrow ? 4 : 8, perRow) + 10;
    return y;
  }

  layOutRow(devices, y, gap, slots = devices.length) {
    const slot = (this.width - gap) / Math.max(slots, 1);
    const most = Math.max(...devices.map((d) => d.ports.length), 1);
    const room = Math.min(slot - gap, 460);
    // As large as the room allows, in as few rows as needed.
    let size = 14;
    let columns = most;
    for (; size > 5; --size) {
      columns = Math.max(1, Math.floor((room - 8) / (size + 2)));
      if (Math.ceil(most / columns) <= (most > 16 || this.isNarrow ? 2 : 1)) break;
    }
    columns = Math.min(columns, most);
    if (devices[0].tier === 0 && most > 4) columns = Math.min(columns, Math.ceil(most / 2));
    const rows = Math.ceil(most / columns);
    const width = Math.max(columns * (size + 2) + 6, Math.min(room, 46));
    const height = 18 + rows * (size + 2) + 3;
    devices.forEach((device, i) => {
      const x = gap / 2 + slot * i + (slot - width) / 2;
      this.drawDevice(device, x, y, width, height, columns, size);
    });
    return y + height;
  }

  drawDevice(device, x, y, width, height, columns, size) {
    const group = Weir.svg('g', {class: 'device', tabindex: 0, role: 'button', 'data-device': device.name});
    group.append(Weir.svg('rect', {class: 'box', x, y, width, height, rx: 3}));
    group.append(Weir.svg('text', {x: x + width / 2, y: y + 13, 'text-anchor': 'middle'},
      device.name.length * 6.4 > width ? device.name.slice(0, Math.floor(width / 6.6)) + '…' : device.name));
    const used = Math.min(columns, device.ports.length) * (size + 2) - 2;
    device.ports.forEach((port, i) => {
      const cx = x + (width - used) / 2 + (i % columns) * (size + 2);
      const cy = y + 18 + Math.floor(i / columns) * (size + 2);
      const rect = Weir.svg('rect', {class: 'cell', x: cx, y: cy, width: size, height: size, rx: 1.5,
        'data-port': port.index, fill: 'url(#hatch)'});
      const title = Weir.svg('title');
      rect.append(title);
      group.append(rect);
      this.cells.set(port.index, {rect, title, x: cx, y: cy, size, byte: -1, mark: null, group});
    });
    this.boxes.set(device, {group, x, y, width, height});
    this.deviceLayer.append(group);
  }

  /// One line for all cables between two devices.
  drawLinks() {
    const pairs = new Map();
    for (const port of this.topology.ports) {
      const other = this.topology.peerDevice(port);
      if (!other || other.tier <= port.device.tier) continue;
      if (port.device.tier === 0 && (this.topology.hosts.length > 16 || port.device.ports.length > 1)) continue;
      const key = port.device.index + ':' + other.index;
      if (!pairs.has(key)) pairs.set(key, {lower: port.device, upper: other, ports: []});
      pairs.get(key).ports.push(port, this.topology.ports[port.peer]);
    }
    for (const pair of pairs.values()) {
      const a = this.boxes.get(pair.lower);
      const b = this.boxes.get(pair.upper);
      if (!a || !b) continue;
      const x1 = a.x + a.width / 2, y1 = a.y, x2 = b.x + b.width / 2, y2 = b.y + b.height;
      const mid = (y1 + y2) / 2;
      const path = Weir.svg('path', {class: 'link', d: `M${x1},${y1}C${x1},${mid} ${x2},${mid} ${x2},${y2}`});
      this.linkLayer.append(path);
      this.links.push({path, ports: pair.ports, byte: -1, wide: -1});
    }
  }

  update(frame, quantity) {
    const cells = frame.cells[quantity];
    const link = frame.cells.link;
    for (const [index, cell] of this.cells) {
      const byte = cells?.[index] ?? Weir.GAP;
      const down = link?.[index] === 0;
      const look = byte + (down ? 1000 : 0);
      if (look === cell.byte && quantity === this.quantity) continue;
      cell.byte = look;
      cell.rect.setAttribute('fill', byte === Weir.GAP ? 'url(#hatch)' : this.palette.of(quantity, byte));
      this.markCell(cell, down ? 'down' : Weir.isOver(quantity, byte, this.topology) ? 'over' : '');
      const port = this.topology.ports[index];
      cell.title.textContent = `${port.device.name} ${port.name}${down ? ' (link down)' : ''}: ` +
        `${Weir.VIEWS[quantity].label.toLowerCase()} ${Weir.text(quantity, byte)}`;
    }
    for (const line of this.links) {
      const byte = Weir.worstOf(line.ports, cells);
      const use = Weir.value('sent', Weir.worstOf(line.ports, frame.cells.sent)) ?? 0;
      const wide = Math.round((1 + 4 * use) * 4) / 4;
      if (byte === line.byte && wide === line.wide && quantity === this.quantity) continue;
      line.byte = byte;
      line.wide = wide;
      line.path.setAttribute('stroke', this.palette.of(quantity, byte));
      line.path.setAttribute('stroke-width', wide);
      line.path.setAttribute('stroke-dasharray', byte === Weir.GAP ? '3 3' : 'none');
    }
    for (const [device, box] of this.boxes) {
      const label = `${device.name}, worst ${Weir.VIEWS[quantity].label.toLowerCase()} ` +
        Weir.text(quantity, Weir.worstOf(device.ports, cells));
      if (box.label !== label) box.group.setAttribute('aria-label', box.label = label);
    }
    this.quantity = quantity;
  }

  markCell(cell, kind) {
    if ((cell.kind ?? '') === kind) return;
    cell.kind = kind;
    cell.mark?.remove();
    cell.mark = null;
    if (!kind) return;
    const {x, y, size} = cell;
    const d = kind === 'over' ? `M${x + size},${y}v${size * 0.45}l${-size * 0.45},${-size * 0.45}z` :
      `M${x},${y}l${size},${size}M${x + size},${y}l${-size},${size}`;
    cell.mark = Weir.svg('path', {class: 'mark', d});
    if (kind === 'down') cell.mark.setAttribute('stroke', this.palette.ink);
    cell.group.append(cell.mark);
  }

  /// Rings around ports: [{port, kind: picked | victim | root}].
  highlight(rings) {
    this.overlay.replaceChildren(...rings.filter((r) => this.cells.has(r.port)).map(({port, kind}) => {
      const {x, y, size} = this.cells.get(port);
      const out = kind === 'root' ? 3 : 1.5;
      return Weir.svg('rect', {class: kind, x: x - out, y: y - out, width: size + 2 * out, height: size + 2 * out, rx: 2.5});
    }));
  }

  clicked(event) {
    const port = event.target.closest?.('[data-port]');
    const device = event.target.closest?.('[data-device]');
    if (port) this.pick({port: Number(port.getAttribute('data-port'))});
    else if (device) this.pick({device: device.getAttribute('data-device')});
  }

  pressed(event) {
    const device = event.target.closest?.('[data-device]');
    if (!device) return;
    if (event.key === 'Enter') {
      event.preventDefault();
      this.pick({device: device.getAttribute('data-device')});
    }
  }
};

/// Beyond 64 hosts: a cell per NIC, hosts from left to right, rails below each other; switches as a
/// row of buttons.
Weir.HeatMap = class {
  constructor(parent, topology, palette, pick) {
    this.topology = topology;
    this.palette = palette;
    this.pick = pick;
    const rails = topology.rails.length || 1;
    const width = Math.max(256, (parent.clientWidth || 900) - 70);
    this.perBand = 128;
    while (this.perBand * 4 > width) this.perBand /= 2;
    this.size = Math.max(3, Math.min(9, Math.floor(width / this.perBand)));
    this.bands = Math.ceil(topology.hosts.length / this.perBand);
    this.bandHeight = rails * this.size + 16;
    this.canvas = Weir.el('canvas', {tabindex: 0, role: 'img'});
    this.canvas.width = this.perBand * this.size + 64;
    this.canvas.height = this.bands * this.bandHeight;
    this.context = this.canvas.getContext('2d');
    this.nics = topology.hosts.flatMap((h) => h.ports);
    this.rowOf = new Map(topology.rails.map((rail, i) => [rail, i]));
    this.placed = [];    // port -> {x, y}
    topology.hosts.forEach((host, i) => {
      for (const port of host.ports)
        this.placed[port.index] = {x: 64 + (i % this.perBand) * this.size,
          y: Math.floor(i / this.perBand) * this.bandHeight + 14 + this.rowOf.get(port.row) * this.size};
    });
    this.strip = Weir.el('div', {class: 'switches', role: 'group', 'aria-label': 'Switches'});
    this.buttons = topology.switches.map((device) => {
      const button = Weir.el('button', {type: 'button', 'data-device': device.name,
        on: {click: () => pick({device: device.name})}}, device.name);
      this.strip.append(button);
      return {device, button, byte: -1};
    });
    parent.replaceChildren(this.strip, Weir.railBar(topology, pick), this.canvas);
    this.canvas.addEventListener('click', (event) => {
      const found = this.at(event.offsetX, event.offsetY);
      if (found !== null) pick({port: found});
    });
    this.canvas.addEventListener('mousemove', (event) => {
      const found = this.at(event.offsetX, event.offsetY);
      this.canvas.title = found === null ? '' : `${topology.portName(found)}: ` +
        Weir.text(this.quantity, this.frame?.cells[this.quantity]?.[found]);
    });
    this.canvas.addEventListener('keydown', (event) => this.pressed(event));
    this.rings = [];
  }

  at(x, y) {
    const band = Math.floor(y / this.bandHeight);
    const column = Math.floor((x - 64) / this.size);
    const row = Math.floor((y - band * this.bandHeight - 14) / this.size);
    const host = this.topology.hosts[band * this.perBand + column];
    if (!host || column < 0 || column >= this.perBand || row < 0) return null;
    return host.ports.find((p) => this.rowOf.get(p.row) === row)?.index ?? null;
  }

  pressed(event) {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const place = this.placed[this.picked ?? this.topology.hosts[0].ports[0].index];
    let {x, y} = place;
    x += step[0] * this.size;
    y += step[1] * this.size;
    const found = this.at(x + 1, y + 1);
    if (found !== null) this.pick({port: found});
  }

  update(frame, quantity) {
    this.frame = frame;
    this.quantity = quantity;
    const cells = frame.cells[quantity];
    const {width, height} = this.canvas;
    this.image ??= this.context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    const table = this.palette.tables[quantity].map(([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0);
    const [gr, gg, gb] = this.palette.gapRgb;
    const gap = (255 << 24 | gb << 16 | gg << 8 | gr) >>> 0;
    const drawn = this.size > 4 ? this.size - 1 : this.size;
    const limit = Weir.cellOfShare(this.topology.pause_limit);
    const [ir, ig, ib] = this.palette.rgb(this.palette.ink);
    const ink = (255 << 24 | ib << 16 | ig << 8 | ir) >>> 0;
    const isNew = quantity !== this.drawnAs || this.drawnWith !== this.palette.tables;
    this.drawnAs = quantity;
    this.drawnWith = this.palette.tables;
    this.last ??= new Uint8Array(this.topology.ports.length);
    for (const port of this.nics) {
      const byte = cells?.[port.index] ?? Weir.GAP;
      if (!isNew && this.last[port.index] === byte) continue;
      this.last[port.index] = byte;
      const {x, y} = this.placed[port.index];
      const colour = byte === Weir.GAP ? gap : table[Math.min(byte, 250)];
      for (let dy = 0; dy < drawn; ++dy) pixels.fill(colour, (y + dy) * width + x, (y + dy) * width + x + drawn);
      // A corner: over the limit, whatever the colour.
      const over = byte !== Weir.GAP && (quantity === 'pause' ? byte >= limit : quantity === 'drops' && byte > 0);
      if (over && drawn > 3) { pixels[y * width + x + drawn - 1] = ink; pixels[y * width + x + drawn - 2] = ink; pixels[(y + 1) * width + x + drawn - 1] = ink; }
      if (byte === Weir.GAP) for (let k = 0; k < drawn; k += 2) pixels[(y + k) * width + x + (drawn - 1 - k)] = 0;
    }
    this.context.putImageData(this.image, 0, 0);
    this.drawLabels();
    this.drawRings();
    for (const entry of this.buttons) {
      const byte = Weir.worstOf(entry.device.ports, cells);
      if (byte === entry.byte && entry.quantity === quantity) continue;
      entry.byte = byte;
      entry.quantity = quantity;
      entry.button.style.borderLeftColor = this.palette.of(quantity, byte);
      entry.button.setAttribute('aria-label', `${entry.device.name}, worst ${Weir.text(quantity, byte)}`);
    }
    const worst = Weir.worstOf(this.nics, cells);
    const label = `Heat map, ${this.topology.hosts.length} hosts by ${this.topology.rails.length} rails, worst ` +
      `${Weir.VIEWS[quantity].label.toLowerCase()} ${Weir.text(quantity, worst)}. Arrow keys choose a NIC.`;
    if (this.label !== label) this.canvas.setAttribute('aria-label', this.label = label);
  }

  drawLabels() {
    const context = this.context;
    context.fillStyle = this.palette.muted;
    context.font = '10px system-ui, DejaVu Sans, sans-serif';
    for (let band = 0; band < this.bands; ++band) {
      const first = this.topology.hosts[band * this.perBand];
      const last = this.topology.hosts[Math.min((band + 1) * this.perBand, this.topology.hosts.length) - 1];
      context.textBaseline = 'alphabetic';
      context.fillText(`${first.name} … ${last.name}`, 64, band * this.bandHeight + 10);
      context.fillText('rail 0', 30, band * this.bandHeight + 14 + 8);
      if (this.topology.rails.length > 2)
        context.fillText(`rail ${this.topology.rails.at(-1)}`, 30, band * this.bandHeight + 14 + this.topology.rails.length * this.size - 1);
    }
  }

  drawRings() {
    const context = this.context;
    for (const {port, kind} of this.rings) {
      const place = this.placed[port];
      if (!place) continue;
      context.strokeStyle = kind === 'root' ? getComputedStyle(this.canvas).getPropertyValue('--root') :
        kind === 'picked' ? this.palette.ink : this.palette.accent;
      context.lineWidth = kind === 'victim' ? 1 : 2;
      context.strokeRect(place.x - 1, place.y - 1, this.size + 1, this.size + 1);
    }
  }

  highlight(rings) {
    this.rings = rings;
    this.picked = rings.find((r) => r.kind === 'picked')?.port;
    if (this.frame) this.update(this.frame, this.quantity);
  }
};

/// A curve of bytes; gaps are grey bands, the cursor a line. Made once and drawn again and again: new
/// elements at every update, of 64 rows, would be most of the page's work.
Weir.Sparkline = class {
  constructor() {
    this.gaps = Weir.svg('path', {opacity: 0.5});
    this.curve = Weir.svg('path', {fill: 'none', 'stroke-width': 1.3});
    this.cursor = Weir.svg('path', {'stroke-width': 1});
    this.root = Weir.svg('svg', {width: 110, height: 16, viewBox: '0 0 110 16', 'aria-hidden': 'true'}, this.gaps, this.curve, this.cursor);
  }

  draw(cells, quantity, palette, cursor) {
    const width = 110, height = 16;
    const n = cells.length;
    const tenth = (v) => Math.round(v * 10) / 10;
    const x = (i) => n === 1 ? width : tenth((i / (n - 1)) * (width - 2) + 1);
    let most = 25;
    for (const cell of cells) if (cell !== Weir.GAP) most = Math.max(most, cell);
    let curve = '', gaps = '';
    let isOpen = false;
    let gapFrom = -1;
    const closeGap = (to) => { gaps += `M${x(gapFrom)},0H${Math.max(x(gapFrom) + 1, x(to))}V${height}H${x(gapFrom)}z`; gapFrom = -1; };
    for (let i = 0; i < n; ++i) {
      const isGap = cells[i] === Weir.GAP;
      if (isGap && gapFrom < 0) gapFrom = i;
      if (gapFrom >= 0 && (!isGap || i === n - 1)) closeGap(i);
      if (!isGap) curve += `${isOpen ? 'L' : 'M'}${x(i)},${tenth(height - 1 - (cells[i] / most) * (height - 3))}`;
      isOpen = !isGap;
    }
    this.set(this.gaps, 'd', gaps, 'fill', palette.gap);
    this.set(this.curve, 'd', curve, 'stroke', palette.of(quantity, 190));
    this.set(this.cursor, 'd', cursor !== null && cursor >= 0 ? `M${x(cursor)},0V${height}` : '', 'stroke', palette.accent);
  }

  set(path, ...pairs) {
    for (let i = 0; i < pairs.length; i += 2)
      if (path.getAttribute(pairs[i]) !== pairs[i + 1]) path.setAttribute(pairs[i], pairs[i + 1]);
  }
};
