// What the page knows: ports, frames, findings, events, and how numbers read. No DOM here.
'use strict';

const Weir = {};

Weir.GAP = 255;
Weir.QUANTITIES = ['pause', 'pausing', 'sent', 'received', 'marks', 'drops', 'link'];
// What the map can be coloured by. `limit` is the cell from which a port is marked beside its colour.
Weir.VIEWS = {
  pause: {label: 'Pause', unit: 'of the time', help: 'share of the time that a port had to be silent'},
  marks: {label: 'Marks', unit: 'packets/s', help: 'packets per second marked with congestion'},
  sent: {label: 'Use', unit: 'of the speed', help: 'share of its speed that a port sent'},
  drops: {label: 'Drops', unit: 'per second', help: 'drops, NAKs and timeouts per second'},
};

Weir.isShare = (quantity) => quantity !== 'marks' && quantity !== 'drops' && quantity !== 'link';

/// A byte of a frame as a number; null for a gap (serve/page/frame.h).
Weir.value = (quantity, cell) => {
  if (cell === Weir.GAP || cell === undefined) return null;
  if (quantity === 'link') return cell;
  if (Weir.isShare(quantity)) return (cell / 250) * (cell / 250);
  return cell === 0 ? 0 : Math.pow(2, (cell - 1) / 8);
};

Weir.cellOfShare = (share) => Math.round(250 * Math.sqrt(share));

const trim = (number, digits) => {
  const text = number.toPrecision(digits);
  return text.includes('e') ? String(Math.round(number)) :
    text.includes('.') ? text.replace(/\.?0+$/, '') : text;
};

Weir.text = (quantity, cell) => {
  const value = Weir.value(quantity, cell);
  if (value === null) return 'not known';
  if (quantity === 'link') return value ? 'up' : 'down';
  if (Weir.isShare(quantity)) return value === 0 ? '0 %' : (value < 0.001 ? '<0.1 %' : trim(value * 100, 2) + ' %');
  if (value === 0) return '0 /s';
  if (value >= 1e6) return '≈' + trim(value / 1e6, 2) + ' M/s';
  if (value >= 1e3) return '≈' + trim(value / 1e3, 2) + ' k/s';
  return '≈' + trim(value, 2) + ' /s';
};

/// Of a share of its speed: "38 Gb/s".
Weir.rateText = (cell, gbps) => {
  const share = Weir.value('sent', cell);
  if (share === null) return 'not known';
  if (!gbps) return Weir.text('sent', cell);
  const rate = share * gbps;
  return (rate >= 10 ? Math.round(rate) : trim(rate, 2)) + ' Gb/s';
};

Weir.clock = (ms) => {
  const d = new Date(ms);
  const two = (n) => String(n).padStart(2, '0');
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
};

Weir.age = (ms) => {
  const s = Math.max(0, ms) / 1000;
  if (s < 10) return s.toFixed(1) + ' s';
  if (s < 120) return Math.round(s) + ' s';
  if (s < 7200) return Math.round(s / 60) + ' min';
  return Math.round(s / 3600) + ' h';
};

const bytesOf = (text) => {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out;
};
Weir.bytesOf = bytesOf;

Weir.decodeFrame = (message) => {
  const cells = {};
  for (const name of Object.keys(message.cells)) cells[name] = bytesOf(message.cells[name]);
  return {number: message.number, time: message.time, clock: message.clock,
    topology: message.topology, highest: message.highest, cells};
};

/// Ports, devices and who belongs to whom.
Weir.Topology = class {
  constructor(message) {
    Object.assign(this, message);
    this.devices = message.devices.map(([name, tier], index) => ({name, tier, index, ports: []}));
    this.ports = message.ports.map(([device, name, rail, peer, gbps, neighbour], index) => {
      const port = {index, device: this.devices[device], name, rail, peer, gbps, neighbour};
      this.devices[device].ports.push(port);
      return port;
    });
    this.hosts = this.devices.filter((d) => d.tier === 0);
    this.switches = this.devices.filter((d) => d.tier > 0);
    const byNumber = new Intl.Collator('en', {numeric: true}).compare;
    for (const d of this.devices)
      d.ports.sort((a, b) => (a.rail ?? 0) - (b.rail ?? 0) || byNumber(a.name, b.name));
    const rails = new Set();
    for (const host of this.hosts) host.ports.forEach((p, i) => { p.row = p.rail ?? i; rails.add(p.row); });
    this.rails = [...rails].sort((a, b) => a - b);
    this.leafOf = (host) => {
      const leaves = new Set(host.ports.map((p) => this.peerDevice(p)?.name).filter(Boolean));
      return leaves.size === 1 ? [...leaves][0] : '';
    };
    this.hosts.sort((a, b) => byNumber(this.leafOf(a), this.leafOf(b)) || byNumber(a.name, b.name));
    this.switches.sort((a, b) => b.tier - a.tier || byNumber(a.name, b.name));
    this.isLarge = this.hosts.length > 64;
    this.byName = new Map(this.devices.map((d) => [d.name, d]));
  }

  peerDevice(port) { return port.peer === null ? null : this.ports[port.peer].device; }
  portName(index) { const p = this.ports[index]; return p ? `${p.device.name} ${p.name}` : '?'; }
  towards(port) {
    const other = this.peerDevice(port);
    if (other) return `${other.name} ${this.ports[port.peer].name}`;
    return port.neighbour || '';
  }
  find(device, name) {
    return this.byName.get(device)?.ports.find((p) => p.name === name) ?? null;
  }
};

/// What the address bar keeps: the view, not the data.
Weir.readState = () => {
  const values = new URLSearchParams(location.hash.slice(1));
  const quantity = values.get('q');
  return {
    quantity: Object.hasOwn(Weir.VIEWS, quantity ?? '') ? quantity : 'pause',
    device: values.get('device') ?? '',
    rail: /^\d+$/.test(values.get('rail') ?? '') ? Number(values.get('rail')) : null,
    port: values.get('port') ?? '',
    at: /^\d+$/.test(values.get('at') ?? '') ? Number(values.get('at')) : 0,
    finding: values.get('finding') ?? '',
    follow: values.get('follow') === '1',
  };
};

Weir.writeState = (state) => {
  const values = new URLSearchParams();
  if (state.quantity !== 'pause') values.set('q', state.quantity);
  if (state.device) values.set('device', state.device);
  if (state.rail !== null) values.set('rail', state.rail);
  if (state.port) values.set('port', state.port);
  if (state.at) values.set('at', state.at);
  if (state.finding) values.set('finding', state.finding);
  if (state.follow) values.set('follow', '1');
  const hash = values.toString();
  history.replaceState(null, '', hash ? '#' + hash : location.pathname);
};

Weir.ask = async (path) => {
  const answer = await fetch(path, {credentials: 'same-origin'});
  if (!answer.ok) {
    const why = await answer.json().catch(() => ({}));
    throw new Error(why.error || `${path}: ${answer.status}`);
  }
  return answer.json();
};

Weir.tell = async (path, body) => {
  const answer = await fetch(path, {method: 'POST', credentials: 'same-origin',
    headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)});
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error || `${path}: ${answer.status}`);
  return said;
};

/// An element with text and attributes; text is never markup.
Weir.el = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'on') for (const [type, fn] of Object.entries(value)) element.addEventListener(type, fn);
    else element.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined)
      element.append(child);
  return element;
};

Weir.svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  for (const child of children.flat()) if (child !== null) element.append(child);
  return element;
};

/// Colours of the present theme: 256 of them for each quantity.
Weir.Palette = class {
  constructor() {
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.dark.addEventListener('change', () => { this.make(); this.onchange?.(); });
    this.make();
  }
  make() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    this.gap = colour('--gap');
    this.ink = colour('--ink');
    this.muted = colour('--muted');
    this.line = colour('--line');
    this.accent = colour('--accent');
    this.tables = {};
    for (const quantity of Object.keys(Weir.VIEWS)) {
      const stops = [0, 1, 2, 3, 4].map((i) => this.rgb(colour(`--${quantity}-${i}`)));
      const table = [];
      for (let cell = 0; cell <= 250; ++cell) {
        // Zero has a colour of its own; the rest is spread over the other stops.
        const at = cell === 0 ? 0 : 1 + (cell / 250) * 3;
        const i = Math.min(3, Math.floor(at));
        const mix = stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (at - i)));
        table.push(mix);
      }
      this.tables[quantity] = table;
    }
    this.gapRgb = this.rgb(this.gap);
  }
  rgb(hex) {
    const text = hex.replace('#', '');
    return [0, 2, 4].map((i) => parseInt(text.slice(i, i + 2), 16) || 0);
  }
  rgbOf(quantity, cell) {
    return cell === Weir.GAP || cell === undefined ? this.gapRgb : this.tables[quantity][Math.min(cell, 250)];
  }
  of(quantity, cell) {
    const [r, g, b] = this.rgbOf(quantity, cell);
    return `rgb(${r},${g},${b})`;
  }
};
