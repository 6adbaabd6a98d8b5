// The page: what comes in, what is shown, what a person does.
'use strict';

(() => {
const el = Weir.el;
const $ = (id) => document.getElementById(id);
const palette = new Weir.Palette();
const state = Weir.readState();
const KEPT_FRAMES = 240;
const SPARK = 120;
const MOST_ROWS = 64;

let topology = null;
let map = null;
let source = null;            // EventSource
let live = null;              // the latest frame
let shown = null;             // the frame on the page
let timer = null;             // of playing
const frames = new Map();     // number -> frame
const past = {numbers: [], times: [], highest: {pause: [], sent: [], marks: [], drops: []}};
const events = [];
let lastEvent = 0;
let findings = {judged: null, findings: []};
let follow = null;
let rows = [];                // of the table
let sparks = new Map();       // port -> array of bytes
let sparkNumbers = [];
let extra = new Map();        // port -> all quantities, where the stream has one alone
let chart = null;
let clockSkew = 0;            // server's clock against ours
let isLost = false;

// For whoever measures this page.
Weir.stats = {updates: 0, bytes: 0, firstPaint: 0};

const quantities = () => topology.isLarge ? [state.quantity] : Weir.QUANTITIES;
const selected = () => {
  const [device, name] = state.port.split(' ');
  return topology?.find(device, name) ?? null;
};
const isPast = () => state.at !== 0;
const announce = (text) => { $('announce').textContent = text; };

// ---- commands to copy

const command = (text) => {
  const button = el('button', {type: 'button', title: 'Copy'}, 'copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = 'copied';
    } catch {
      getSelection().selectAllChildren(button.previousSibling);
      button.textContent = 'selected';
    }
    setTimeout(() => { button.textContent = 'copy'; }, 1500);
  });
  return el('div', {class: 'cmd'}, el('code', {}, text), button);
};
const weir = (...words) => ['weir', ...words].filter(Boolean).join(' ');

// ---- what is chosen

const setState = (change) => {
  Object.assign(state, change);
  Weir.writeState(state);
};

const pick = ({port, device, rail}) => {
  if (port !== undefined) {
    const chosen = topology.ports[port];
    setState({port: `${chosen.device.name} ${chosen.name}`});
    announce(`${state.port}: ${Weir.text(state.quantity, cellOf(state.quantity, port))}`);
    showPort();
    loadChart();
    if (follow) closeFollow();
    highlight();
    markRows();
    showCrumbs();
  } else {
    // A switch of the rail that is looked at is within it; anything else is not.
    const isWithin = device !== undefined && state.rail !== null && leavesOf(state.rail).includes(device);
    setState({device: device ?? '', rail: rail ?? (isWithin ? state.rail : null)});
    announce(device ?? (rail === undefined ? 'the fabric' : `rail ${rail}`));
    showCrumbs();
    buildTable();
  }
};

/// Switches that the NICs of a rail are plugged into, by name.
const leavesOf = (rail) => [...new Set(topology.hosts.flatMap((h) => h.ports.filter((p) => p.row === rail))
  .map((p) => topology.peerDevice(p)?.name).filter(Boolean))];

const leavePort = () => { setState({port: ''}); showPort(); closeFollow(); highlight(); markRows(); showCrumbs(); };

/// Fabric, rail, switch or host, port: a step up is a button, where one is now is a word.
const showCrumbs = () => {
  const steps = [['Fabric', () => pick({}), state.rail !== null || state.device]];
  if (state.rail !== null) steps.push([`rail ${state.rail}`, () => pick({rail: state.rail}), state.device]);
  if (state.device) steps.push([state.device, leavePort, state.port]);
  if (state.port) steps.push([state.port.startsWith(state.device + ' ') ? state.port.slice(state.device.length + 1) : state.port, null, false]);
  const parts = steps.map(([name, go, isAbove], i) => [i ? '›' : '',
    go && (isAbove || state.port) ? el('button', {type: 'button', on: {click: go}}, name) : el('span', {'aria-current': i === steps.length - 1 ? 'true' : null}, name)]);
  const leaves = state.rail !== null && !state.device && !state.port ? leavesOf(state.rail).slice(0, 16) : [];
  $('crumbs').replaceChildren(...parts.flat(), ...(leaves.length ? ['›'] : []),
    ...leaves.map((name) => el('button', {type: 'button', on: {click: () => pick({device: name})}}, name)));
};

const showQuantities = () => {
  const box = $('quantity');
  box.querySelectorAll('label').forEach((l) => l.remove());
  Object.entries(Weir.VIEWS).forEach(([name, view], i) => {
    const input = el('input', {type: 'radio', name: 'q', value: name, on: {change: () => setQuantity(name)}});
    input.checked = name === state.quantity;
    box.append(el('label', {title: `${view.help} (${i + 1})`}, input, view.label));
  });
};

const setQuantity = async (name) => {
  setState({quantity: name});
  showQuantities();
  showLegend();
  if (topology.isLarge) {
    frames.clear();
    openStream();
    if (isPast()) return goTo(state.at);
    live = shown = Weir.decodeFrame(await Weir.ask(frameUrl(0)));
  }
  buildTable();
  draw();
};

const showLegend = () => {
  const box = $('legend');
  const width = 120;
  const svg = Weir.svg('svg', {width, height: 10});
  for (let i = 0; i < 40; ++i)
    svg.append(Weir.svg('rect', {x: i * 3, y: 0, width: 3.2, height: 10, fill: palette.of(state.quantity, Math.round(i * 6.4))}));
  const top = Weir.isShare(state.quantity) ? '100 %' : Weir.text(state.quantity, 250).replace('≈', '');
  const over = state.quantity === 'pause' ? `◥ over ${(topology?.pause_limit ?? 0.01) * 100} %` : state.quantity === 'drops' ? '◥ any' : '';
  box.replaceChildren('0', svg, `${top} ${Weir.VIEWS[state.quantity].unit}`, el('span', {}, over), el('span', {}, '▨ not known'), el('span', {}, '✕ down'));
};

// ---- frames

const frameUrl = (at) => `/api/frame?at=${at}&quantities=${quantities().join(',')}`;
const cellOf = (quantity, port) => {
  const cells = shown?.cells[quantity];
  if (cells) return cells[port] ?? Weir.GAP;
  return extra.get(port)?.[quantity] ?? Weir.GAP;
};

const keep = (frame) => {
  frames.set(frame.number, frame);
  if (frames.size > KEPT_FRAMES) frames.delete(frames.keys().next().value);
};

const remember = (frame) => {
  if (past.numbers.length && past.numbers.at(-1) >= frame.number) return;
  past.numbers.push(frame.number);
  past.times.push(frame.time);
  for (const q of Object.keys(past.highest)) past.highest[q].push(frame.highest[Weir.QUANTITIES.indexOf(q)]);
  if (past.numbers.length > 6000) {
    past.numbers.shift();
    past.times.shift();
    for (const q of Object.keys(past.highest)) past.highest[q].shift();
  }
};

const onTick = (message) => {
  const frame = Weir.decodeFrame(message);
  clockSkew = Date.now() - frame.time;
  if (frame.topology !== topology.version) { reload(); return; }
  keep(frame);
  remember(frame);
  live = frame;
  if (!isPast()) {
    shown = frame;
    growSparks(frame);
    growChart(frame);
    draw();
    if (follow && !document.hidden) refreshFollow();
  }
  drawTimeline();
  Weir.stats.updates++;
};

let wanted = 0;
const goTo = async (number) => {
  wanted = number;
  setState({at: number});
  let frame = frames.get(number);
  if (!frame) {
    try {
      frame = Weir.decodeFrame(await Weir.ask(frameUrl(number)));
    } catch (error) {
      showTrouble(error.message);
      return;
    }
    if (wanted !== number) return;    // scrubbed on meanwhile
    keep(frame);
  }
  shown = frame;
  if (topology.isLarge) await loadExtra();
  draw();
  drawTimeline();
  showLog();
  if (chart) chart.redraw(false);
  if (follow) refreshFollow();
};

const goLive = () => {
  stopPlaying();
  setState({at: 0});
  if (topology.mode === 'replay' && past.numbers.length) {
    goTo(past.numbers.at(-1));
    return;
  }
  shown = live;
  if (shown) { draw(); showLog(); }
  loadSparks();
  loadChart();
  drawTimeline();
};

const position = () => {
  if (!isPast()) return past.numbers.length - 1;
  let i = past.numbers.findIndex((n) => n >= state.at);
  return i < 0 ? past.numbers.length - 1 : i;
};
const step = (by) => {
  const at = Math.max(0, Math.min(past.numbers.length - 1, position() + by));
  if (past.numbers.length) goTo(past.numbers[at]);
};
const stopPlaying = () => {
  clearInterval(timer);
  timer = null;
  showPlay();
};
const play = () => {
  if (timer) return stopPlaying();
  if (!isPast()) {    // live: hold here
    if (live) goTo(live.number);
    return showPlay();
  }
  if (position() === past.numbers.length - 1 && topology.mode === 'replay') goTo(past.numbers[0]);
  timer = setInterval(() => {
    if (position() >= past.numbers.length - 1) {
      stopPlaying();
      if (topology.mode !== 'replay') goLive();
      return;
    }
    step(1);
  }, Math.max(100, topology.interval_ms / 4));
  showPlay();
};
const showPlay = () => {
  const button = $('play');
  button.textContent = timer || !isPast() ? 'Pause' : 'Play';
  button.setAttribute('aria-pressed', String(Boolean(timer)));
};

// ---- drawing

const highlight = () => {
  const rings = [];
  if (follow?.tree) {
    for (const victim of follow.victims) rings.push({port: victim, kind: 'victim'});
    for (const root of follow.roots.slice(0, 1)) rings.push({port: root.port, kind: 'root'});
  }
  const chosen = selected();
  if (chosen) rings.push({port: chosen.index, kind: 'picked'});
  map?.highlight(rings);
};

const draw = () => {
  if (!shown || !map) return;
  map.update(shown, state.quantity);
  showSummary();
  updateTable();
  updatePort();
  showWhen();
  showPlay();
};

const showSummary = () => {
  const cells = shown.cells[state.quantity];
  let over = 0, gaps = 0, worst = null;
  for (const port of topology.ports) {
    const cell = cells?.[port.index] ?? Weir.GAP;
    if (cell === Weir.GAP) ++gaps;
    else if (Weir.isOver(state.quantity, cell, topology)) ++over;
    if (cell !== Weir.GAP && (!worst || cell > worst.cell)) worst = {cell, port};
  }
  const parts = [`${topology.hosts.length} hosts, ${topology.switches.length} switches, ${topology.ports.length} ports`];
  if (worst && worst.cell > 0) parts.push(`highest: ${worst.port.device.name} ${worst.port.name} ${Weir.text(state.quantity, worst.cell)}`);
  if (over) parts.push(`${over} over the limit`);
  if (gaps) parts.push(`${gaps} not known`);
  $('map-summary').textContent = parts.join(' · ') + '.';
  const paused = shown.highest[0];
  $('follow-longest').disabled = paused === Weir.GAP || paused < Weir.cellOfShare(topology.pause_limit);
};

const showWhen = () => {
  const box = $('when');
  if (!shown) { box.textContent = ''; return; }
  box.className = isPast() ? 'past' : '';
  const clock = topology.mode === 'replay' ? '' : shown.clock;
  box.replaceChildren(`${Weir.clock(shown.time)}${isPast() && topology.mode !== 'replay' ? ' (past)' : ''}`,
    clock ? el('span', {class: 'clock'}, clock) : '');
};

const showAge = () => {
  const box = $('age');
  if (!topology) return;
  if (topology.mode === 'replay') { box.textContent = 'recording'; return; }
  if (!live) { box.textContent = 'no data yet'; return; }
  const age = Date.now() - clockSkew - live.time;
  const isOld = isLost || age > 3 * topology.interval_ms + 2000;
  box.textContent = `${isLost ? 'no connection, ' : ''}seen ${Weir.age(age)} ago`;
  box.className = isOld ? 'age old' : 'age';
};

// Asked once per size: a question in the middle of an update has the page laid out for it.
let ribbonSize = null;
const drawTimeline = () => {
  const canvas = $('ribbon');
  const ratio = devicePixelRatio || 1;
  ribbonSize ??= {width: canvas.clientWidth, height: canvas.clientHeight};
  const {width, height} = ribbonSize;
  if (canvas.width !== Math.round(width * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const n = past.numbers.length;
  const scrub = $('scrub');
  scrub.max = Math.max(0, n - 1);
  if (document.activeElement !== scrub || !isPast()) scrub.value = position();
  if (n === 0) return;
  const first = past.times[0], last = past.times[n - 1];
  const span = Math.max(1, last - first);
  const gapAfter = Math.max(5 * topology.interval_ms, 20000);
  const x = (i) => n === 1 ? width - 3 : 3 + ((past.times[i] - first) / span) * (width - 6);
  context.fillStyle = palette.line;
  context.fillRect(0, height - 1, width, 1);
  const highest = past.highest[state.quantity] ?? past.highest.pause;
  for (let i = 0; i < n; ++i) {
    const from = i === 0 ? x(0) - 2 : x(i - 1);
    const isGap = i > 0 && past.times[i] - past.times[i - 1] > gapAfter;
    context.fillStyle = isGap || highest[i] === Weir.GAP ? palette.gap : palette.of(state.quantity, highest[i]);
    const h = isGap ? height - 8 : highest[i] === Weir.GAP ? 4 : Math.max(3, (highest[i] / 250) * (height - 8));
    context.fillRect(from, height - 1 - h, Math.max(1, x(i) - from + 0.5), h);
  }
  for (const event of events) {
    if (event.time < first || event.severity === 'info') continue;
    const at = 3 + ((event.time - first) / span) * (width - 6);
    context.fillStyle = palette.ink;
    context.beginPath();
    context.moveTo(at - 3, 0); context.lineTo(at + 3, 0); context.lineTo(at, 5); context.fill();
  }
  const at = x(Math.max(0, position()));
  context.fillStyle = palette.accent;
  context.fillRect(at - 1, 0, 2, height);
  scrub.setAttribute('aria-valuetext', shown ? Weir.clock(shown.time) : '');
};

// ---- the table: ports of what is chosen

/// The `count` with the highest keys, in order, in one pass: a fabric has tens of thousands of ports.
const highestOf = (ports, key, count) => {
  const buckets = Array.from({length: 257}, () => []);
  for (const port of ports) {
    const bucket = buckets[key(port) + 1];
    if (bucket.length < count) bucket.push(port);
  }
  const out = [];
  for (let i = 256; i >= 0 && out.length < count; --i) out.push(...buckets[i].slice(0, count - out.length));
  return out;
};

const portsShown = () => {
  let ports;
  if (state.device && topology.byName.has(state.device)) ports = topology.byName.get(state.device).ports;
  else if (state.rail !== null) ports = topology.hosts.flatMap((h) => h.ports.filter((p) => p.row === state.rail));
  else ports = topology.ports;
  const total = ports.length;
  const isAll = Boolean(state.device) && total <= MOST_ROWS;
  if (!isAll) {
    const cells = shown?.cells[state.quantity];
    const key = (p) => { const c = cells?.[p.index] ?? Weir.GAP; return c === Weir.GAP ? -1 : c; };
    ports = highestOf(ports, key, state.device || state.rail !== null ? MOST_ROWS : 12);
  }
  return {ports, total};
};

const COLUMNS = [['pause', 'paused'], ['pausing', 'pausing'], ['sent', 'sent'], ['received', 'received'], ['marks', 'marks'], ['drops', 'drops']];

const buildTable = () => {
  const {ports, total} = portsShown();
  const where = state.device || (state.rail !== null ? `rail ${state.rail}` : 'the fabric');
  const order = ports.length < total || !state.device ? `, highest ${Weir.VIEWS[state.quantity].label.toLowerCase()} first` : '';
  const caption = `${ports.length === total ? total : `${ports.length} of ${total}`} ports of ${where}${order}`;
  const head = el('tr', {}, el('th', {scope: 'col'}, 'port'), el('th', {scope: 'col', class: 'left'}, 'other end'),
    COLUMNS.map(([, title]) => el('th', {scope: 'col'}, title)),
    el('th', {scope: 'col'}, `${Weir.VIEWS[state.quantity].label.toLowerCase()}, last ${SPARK} looks`));
  rows = ports.map((port) => {
    const cells = COLUMNS.map(() => el('td'));
    const spark = new Weir.Sparkline();
    const button = el('button', {class: 'name', type: 'button', on: {click: () => pick({port: port.index})}}, `${port.device.name} ${port.name}`);
    const tr = el('tr', {}, el('td', {}, button), el('td', {class: 'left muted'}, topology.towards(port)), cells, el('td', {}, spark.root));
    return {port, tr, cells, spark, texts: []};
  });
  $('table').replaceChildren(el('table', {}, el('caption', {class: 'muted'}, caption), el('thead', {}, head), el('tbody', {}, rows.map((r) => r.tr))));
  sight.disconnect();
  for (const row of rows) sight.observe(row.tr);
  builtAt = shown?.number ?? 0;
  loadSparks();
  markRows();
  updateTable();
};
let builtAt = 0;

const markRows = () => {
  for (const row of rows) row.tr.setAttribute('aria-selected', String(`${row.port.device.name} ${row.port.name}` === state.port));
};

const updateTable = () => {
  if (!shown) return;
  // The worst ports change: build anew, not at every tick, and not while someone is in the table.
  if (!(state.device && rows.length === topology.byName.get(state.device)?.ports.length) &&
      Math.abs(shown.number - builtAt) >= 5 && !$('table').contains(document.activeElement)) {
    const {ports} = portsShown();
    if (ports.some((p, i) => p !== rows[i]?.port)) return buildTable();
    builtAt = shown.number;
  }
  for (const row of rows) {
    COLUMNS.forEach(([quantity], i) => {
      const byte = cellOf(quantity, row.port.index);
      const text = quantity === 'sent' || quantity === 'received' ? Weir.rateText(byte, row.port.gbps) : Weir.text(quantity, byte);
      if (row.texts[i] === text) return;
      row.texts[i] = text;
      row.cells[i].textContent = byte === Weir.GAP ? '–' : text;
      row.cells[i].className = byte === Weir.GAP ? 'gap' : Weir.isOver(quantity, byte, topology) ? 'over' : '';
      if (byte === Weir.GAP) row.cells[i].title = 'not known'; else row.cells[i].removeAttribute('title');
    });
  }
  drawSparks();
};

const loadSparks = async () => {
  if (rows.length === 0 || !topology) return;
  const ports = rows.map((r) => r.port.index);
  try {
    const answer = await Weir.ask(`/api/series?ports=${ports.join(',')}&last=${SPARK}&quantities=${state.quantity}`);
    sparkNumbers = answer.numbers;
    sparks = new Map(answer.ports.map((p) => [p.port, Array.from(Weir.bytesOf(p[state.quantity] ?? ''))]));
    if (topology.isLarge) await loadExtra();
    updateTable();
  } catch (error) { showTrouble(error.message); }
};

const loadExtra = async () => {
  const ports = new Set(rows.map((r) => r.port.index));
  const chosen = selected();
  if (chosen) ports.add(chosen.index);
  if (ports.size === 0) return;
  const answer = await Weir.ask(`/api/series?ports=${[...ports].join(',')}&last=1&until=${state.at}&quantities=${Weir.QUANTITIES.join(',')}`);
  extra = new Map(answer.ports.map((p) => [p.port,
    Object.fromEntries(Weir.QUANTITIES.map((q) => [q, Weir.bytesOf(p[q])[0] ?? Weir.GAP]))]));
};

const growSparks = (frame) => {
  if (sparkNumbers.at(-1) >= frame.number) return;
  sparkNumbers.push(frame.number);
  for (const [port, cells] of sparks) {
    cells.push(frame.cells[state.quantity]?.[port] ?? Weir.GAP);
    if (cells.length > SPARK) cells.shift();
  }
  if (sparkNumbers.length > SPARK) sparkNumbers.shift();
  if (topology.isLarge) loadExtra().then(() => { updatePort(); }).catch(() => {});
};

// Curves of rows that are scrolled out of sight are drawn when they come into it.
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) entry.target.weirIsHidden = !entry.isIntersecting;
  drawSparks();
});
addEventListener('beforeprint', () => { for (const row of rows) row.tr.weirIsHidden = false; drawSparks(); });

const drawSparks = () => {
  const cursor = isPast() ? sparkNumbers.findIndex((n) => n >= state.at) : null;
  for (const row of rows) {
    if (row.tr.weirIsHidden) continue;
    const cells = sparks.get(row.port.index);
    if (cells) row.spark.draw(cells, state.quantity, palette, cursor);
  }
};

// ---- the chosen port

const showPort = () => {
  const port = selected();
  const box = $('port');
  box.hidden = !port;
  if (!port) return;
  const values = [['paused', 'pause'], ['pausing', 'pausing'], ['sends', 'sent'], ['receives', 'received'], ['marks', 'marks'], ['drops', 'drops'], ['link', 'link'], ['speed', 'speed']];
  const list = el('dl', {}, values.map(([title, quantity]) => el('div', {}, el('dt', {}, title), el('dd', {'data-value': quantity}))));
  const close = el('button', {type: 'button', 'aria-label': 'Close the port', on: {click: leavePort}}, '×');
  const other = topology.towards(port);
  const source = topology.mode === 'replay' ? '' : topology.source;
  box.replaceChildren(
    el('h2', {}, `${port.device.name} ${port.name}`, close),
    el('p', {class: 'muted'}, other ? `other end: ${other}` : 'the other end is not known'),
    list,
    el('button', {type: 'button', id: 'follow-port', on: {click: () => openFollow(port.index)}}, 'Follow this pause'),
    el('div', {id: 'chart', role: 'img', 'aria-label': `Curves of ${port.device.name} ${port.name}`}),
    port.device.tier === 0 ? command(weir('top', source, '--once', '--filter', port.device.name)) : command(weir('diagnose', source)));
  updatePort();
};

const updatePort = () => {
  const port = selected();
  if (!port || $('port').hidden || !shown) return;
  for (const dd of $('port').querySelectorAll('[data-value]')) {
    const quantity = dd.getAttribute('data-value');
    let text, isGap = false;
    if (quantity === 'speed') text = port.gbps ? `${port.gbps} Gb/s` : 'not known';
    else {
      const byte = cellOf(quantity, port.index);
      isGap = byte === Weir.GAP;
      text = quantity === 'sent' || quantity === 'received' ? Weir.rateText(byte, port.gbps) : Weir.text(quantity, byte);
      dd.className = isGap ? 'gap' : Weir.isOver(quantity, byte, topology) ? 'over' : '';
    }
    if (dd.textContent !== text) dd.textContent = text;
  }
  const paused = cellOf('pause', port.index);
  const button = $('follow-port');
  if (button) {
    button.disabled = paused === Weir.GAP || paused < Weir.cellOfShare(topology.pause_limit);
    button.title = button.disabled ? 'this port is not paused now' : '';
  }
};

const CURVES = [['pause', 'paused %', 'pause'], ['sent', 'sent %', 'sent'], ['received', 'received %', 'marks']];
let chartData = null;

const loadChart = async () => {
  const port = selected();
  chart?.destroy();
  chart = null;
  if (!port || !$('chart')) return;
  const names = CURVES.map(([q]) => q);
  let answer;
  try {
    answer = await Weir.ask(`/api/series?ports=${port.index}&last=900&quantities=${names.join(',')}`);
  } catch { return; }
  const place = $('chart');
  if (!place || selected() !== port) return;
  const decode = (q) => Array.from(Weir.bytesOf(answer.ports[0][q]), (c) => { const v = Weir.value(q, c); return v === null ? null : v * 100; });
  chartData = {port: port.index, numbers: answer.numbers, data: [answer.times.map((t) => t / 1000), ...names.map(decode)]};
  const axis = {stroke: palette.muted, grid: {stroke: palette.line, width: 1}, ticks: {show: false}, font: '10px system-ui', size: 34};
  chart = new uPlot({
    width: 370, height: 130, pxAlign: 0,
    cursor: {sync: {key: 'weir'}, drag: {x: false, y: false}, points: {size: 5}},
    legend: {live: true},
    scales: {y: {range: (u, low, high) => [0, Math.max(5, high ?? 5)]}},
    axes: [{...axis, size: 20, space: 70, values: (u, ticks) => ticks.map((t) => Weir.clock(t * 1000))}, axis],
    series: [{label: 'time', value: (u, v) => v === null ? '' : Weir.clock(v * 1000)},
      ...CURVES.map(([, label, colour]) => ({label, spanGaps: false, stroke: palette.of(colour, 200), width: 1.3,
        points: {show: false}, value: (u, v) => v === null || v === undefined ? '–' : v.toFixed(1)}))],
    hooks: {draw: [(u) => {
      if (!shown || !isPast()) return;
      const x = u.valToPos(shown.time / 1000, 'x', true);
      u.ctx.fillStyle = palette.accent;
      u.ctx.fillRect(x - 1, u.bbox.top, 2, u.bbox.height);
    }]},
  }, chartData.data, place);
  chart.over.addEventListener('click', () => {
    const i = chart.cursor.idx;
    if (i !== null && i !== undefined && chartData.numbers[i]) { stopPlaying(); goTo(chartData.numbers[i]); }
  });
};

const growChart = (frame) => {
  if (!chart || !chartData || chartData.numbers.at(-1) >= frame.number) return;
  chartData.numbers.push(frame.number);
  chartData.data[0].push(frame.time / 1000);
  CURVES.forEach(([q], i) => {
    const v = Weir.value(q, frame.cells[q]?.[chartData.port] ?? extra.get(chartData.port)?.[q] ?? Weir.GAP);
    chartData.data[i + 1].push(v === null ? null : v * 100);
  });
  if (chartData.numbers.length > 900) { chartData.numbers.shift(); chartData.data.forEach((d) => d.shift()); }
  chart.setData(chartData.data);
};

// ---- follow a pause

const closeFollow = () => {
  follow = null;
  setState({follow: false});
  $('follow').hidden = true;
  highlight();
};

const openFollow = async (port) => {
  const chosen = topology.ports[port];
  setState({port: `${chosen.device.name} ${chosen.name}`, follow: true});
  showPort();
  loadChart();
  await refreshFollow();
  if (follow?.roots.length) announce(`Root: ${follow.roots[0].text}`);
};

const followLongest = async () => {
  const pauses = shown?.cells.pause ?? Weir.decodeFrame(await Weir.ask(`/api/frame?at=${state.at}&quantities=pause`)).cells.pause;
  let longest = -1;
  // From a host where one is paused: that is where a job waits.
  for (const isHost of [true, false]) {
    for (const port of topology.ports) {
      const cell = pauses[port.index] ?? Weir.GAP;
      if ((port.device.tier === 0) !== isHost || cell === Weir.GAP || cell < Weir.cellOfShare(topology.pause_limit)) continue;
      if (longest < 0 || cell > pauses[longest]) longest = port.index;
    }
    if (longest >= 0) break;
  }
  if (longest >= 0) openFollow(longest);
};

const refreshFollow = async () => {
  const port = selected();
  if (!port || !state.follow) return;
  try {
    follow = await Weir.ask(`/api/follow?port=${port.index}&at=${state.at}`);
  } catch (error) { showTrouble(error.message); return; }
  showFollow();
  highlight();
};

const portButton = (index) => el('button', {type: 'button', on: {click: () => pick({port: index})}}, topology.portName(index));
const percent = (share) => share === null ? 'for an unknown time' : `${share * 100 < 1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;

const branch = (node) => {
  const item = el('li', {role: 'treeitem', 'aria-expanded': node.because.length ? 'true' : null},
    portButton(node.port), ` is paused ${percent(node.paused)}`,
    node.by === null ? '' : el('span', {}, ' by ', portButton(node.by)));
  if (node.root) item.append(el('div', {class: 'root'}, `root: ${node.root.text}`));
  if (node.because.length) item.append(el('ul', {role: 'group'}, node.because.map(branch)));
  return item;
};

const showFollow = () => {
  const box = $('follow');
  box.hidden = false;
  const close = el('button', {type: 'button', 'aria-label': 'Close', on: {click: closeFollow}}, '×');
  const head = el('h2', {}, 'Follow a pause', close);
  if (!follow.is_paused) {
    box.replaceChildren(head, el('p', {}, `${state.port} is not paused at this moment.`));
    return;
  }
  const [first, ...others] = follow.roots;
  const rootPort = first ? topology.ports[first.port] : null;
  box.replaceChildren(head,
    first ? el('p', {class: 'rootline', 'data-kind': first.kind, 'data-root': `${rootPort.device.name} ${rootPort.name}`}, first.text) : '',
    others.length ? el('p', {class: 'muted'}, `${others.length} more: `, others.map((r) => [portButton(r.port), ' '])) : '',
    el('ul', {class: 'tree', role: 'tree', 'aria-label': 'From the paused port to the root'}, branch(follow.tree)),
    el('h2', {}, follow.victim_count === 1 ? '1 port waits for it' : `${follow.victim_count} ports wait for it`),
    el('div', {class: 'victims'}, follow.victims.map(portButton)));
};

// ---- findings

const findingKey = (f) => `${f.id}@${f.place}`;

const showVerdict = () => {
  const count = (s) => findings.findings.filter((f) => f.severity === s).length;
  const errors = count('error'), warnings = count('warning');
  const box = $('verdict');
  const words = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
  const text = findings.judged === null ? 'not judged yet' :
    errors + warnings === 0 ? 'no findings' : [errors && words(errors, 'error'), warnings && words(warnings, 'warning')].filter(Boolean).join(', ');
  if (box.textContent !== text) box.textContent = text;
  box.className = `verdict ${errors ? 'error' : warnings ? 'warning' : ''}`;
  document.title = `${errors ? '✕ ' : warnings ? '! ' : ''}${topology?.title || 'weir'}`;
};

const placePort = (where) => {
  if (!where) return null;
  if (where.host && where.device) return topology.find(where.host, where.device);
  if (where.switch && where.port) return topology.find(where.switch, where.port);
  return null;
};

const findingBody = (f) => {
  const body = el('div', {class: 'body'});
  const port = placePort(f.where);
  body.append(el('p', {}, f.verdict));
  if (port) body.append(el('p', {class: 'tree'}, portButton(port.index)));
  if (f.evidence?.length) {
    body.append(el('h3', {}, 'Evidence'), el('ul', {}, f.evidence.slice(0, 8).map((line) =>
      el('li', {}, `${line.source ? line.source + ': ' : ''}${line.line || line.counter || ''}${line.value !== null && line.value !== undefined ? ` = ${line.value}` : ''}`))));
  }
  if (f.fix?.length) {
    body.append(el('h3', {}, 'Fix'));
    for (const fix of f.fix.slice(0, 3)) {
      body.append(el('p', {class: 'muted'}, [fix.platform, fix.note].filter(Boolean).join(': ')));
      for (const line of fix.commands ?? []) body.append(command(line));
    }
  }
  const why = el('div', {});
  body.append(el('h3', {}, 'Explain'), why, command(weir('explain', f.id)));
  Weir.ask(`/api/explain?id=${encodeURIComponent(f.id)}`).then((entry) => {
    why.replaceChildren(el('p', {}, entry.title + '. ' + entry.why));
  }).catch(() => {});
  return body;
};

const showFindings = () => {
  showVerdict();
  const box = $('findings');
  const judged = findings.judged === null ? 'not judged yet' : `judged ${Weir.clock(findings.judged)}`;
  const head = el('h2', {}, 'Findings', el('span', {}, judged));
  if (findings.findings.length === 0) {
    box.replaceChildren(head, el('p', {class: 'muted'}, findings.judged === null ? 'Findings are judged every 15 s.' : 'No finding is open.'));
    return;
  }
  const list = el('ul', {'aria-live': 'polite'});
  for (const f of findings.findings.slice(0, 40)) {
    const isOpen = state.finding === findingKey(f);
    const button = el('button', {type: 'button', 'aria-expanded': String(isOpen)},
      el('span', {class: 'sev'}, f.severity), ' ', el('code', {}, f.id), el('br'), f.place || 'the fabric');
    const item = el('li', {class: `finding ${f.severity}`}, button);
    if (isOpen) item.append(findingBody(f));
    button.addEventListener('click', () => {
      setState({finding: isOpen ? '' : findingKey(f)});
      showFindings();
    });
    list.append(item);
  }
  const more = findings.findings.length > 40 ? el('p', {class: 'muted'}, `${findings.findings.length - 40} more`) : '';
  box.replaceChildren(head, list, more, topology.mode === 'replay' ? '' : command(weir('diagnose', topology.source)));
};

// ---- events

const showLog = () => {
  const box = $('log');
  const until = isPast() && shown ? shown.time : Infinity;
  const items = events.slice(-100).reverse().map((event) => el('li', {class: event.time > until ? 'later' : ''},
    el('time', {datetime: new Date(event.time).toISOString()}, Weir.clock(event.time)),
    el('span', {class: event.severity}, {finding: 'opened ', closed: 'closed ', fault: 'fault ', link: '', gap: '', note: ''}[event.kind] ?? '',
      event.id && event.kind === 'finding' ? el('code', {}, event.id + ' ') : '', event.text)));
  box.replaceChildren(el('h2', {}, 'Events'), items.length ? el('ol', {tabindex: 0, 'aria-label': 'Events, the latest first'}, items) : el('p', {class: 'muted'}, 'Nothing has happened yet.'));
};

const takeEvent = (event) => {
  if (event.number <= lastEvent) return false;
  lastEvent = event.number;
  events.push(event);
  if (events.length > 500) events.shift();
  return true;
};

const onEvent = (event) => {
  if (!takeEvent(event)) return;
  showLog();
  if (event.kind === 'fault') loadLab();
  if (event.severity === 'error') announce(event.text);
};

// ---- the lab

const switchFault = async (fault, on, said) => {
  try {
    await Weir.tell('/api/lab/fault', {fault, on});
    said.textContent = '';
    loadLab();
  } catch (error) { said.textContent = error.message; }
};

let labForm = null;
const loadLab = async () => {
  if (topology.mode !== 'lab') return;
  let lab;
  try { lab = await Weir.ask('/api/lab'); } catch { return; }
  const box = $('lab');
  box.hidden = false;
  // A form of an earlier topology offers other places.
  if (labForm?.topology !== topology) {
    const said = el('p', {class: 'said', role: 'alert'});
    const types = el('select', {'aria-label': 'Fault'}, lab.types.map((t) => el('option', {value: t.name, title: t.summary}, t.name)));
    types.value = 'slow-receiver';
    const place = el('select', {'aria-label': 'Where'});
    const hint = el('p', {class: 'muted'});
    const fill = () => {
      const type = lab.types.find((t) => t.name === types.value);
      const names = type.at === 'switch' ? topology.switches.map((d) => d.name) : topology.hosts.map((d) => d.name);
      place.replaceChildren(...(type.needs_place ? [] : [el('option', {value: ''}, 'everywhere')]), ...names.slice(0, 2000).map((n) => el('option', {value: n}, n)));
      hint.textContent = type.summary;
    };
    types.addEventListener('change', fill);
    fill();
    const form = el('form', {on: {submit: (event) => {
      event.preventDefault();
      switchFault(types.value + (place.value ? `,at=${place.value}` : ''), true, said);
    }}}, types, place, el('button', {type: 'submit'}, 'Switch on'));
    const list = el('div', {});
    box.replaceChildren(el('h2', {}, 'Faults of the lab'), form, hint, list, said);
    labForm = {list, said, topology};
  }
  labForm.list.replaceChildren(...lab.faults.map((fault) => el('div', {class: 'on'}, el('code', {}, fault),
    el('button', {type: 'button', on: {click: () => switchFault(fault, false, labForm.said)}}, 'Switch off'))));
};

// ---- the stream

const showTrouble = (text) => {
  const box = $('trouble');
  box.hidden = !text;
  box.textContent = text;
};

const openStream = () => {
  source?.close();
  if (topology.mode === 'replay') return;
  source = new EventSource(`/api/stream?quantities=${quantities().join(',')}&after=${lastEvent}`);
  source.addEventListener('tick', (e) => { Weir.stats.bytes += e.data.length; onTick(JSON.parse(e.data)); });
  source.addEventListener('judged', (e) => { Weir.stats.bytes += e.data.length; findings = JSON.parse(e.data); showFindings(); });
  source.addEventListener('log', (e) => onEvent(JSON.parse(e.data)));
  source.addEventListener('open', () => { isLost = false; showTrouble(''); });
  source.addEventListener('error', () => {
    isLost = true;
    showTrouble('The connection to weir serve is lost: what is shown is old. Trying again.');
    showAge();
    if (source.readyState === EventSource.CLOSED) setTimeout(openStream, 3000);
  });
};

const loadHistory = async () => takeHistory(await Weir.ask('/api/history'));
const takeHistory = (answer) => {
  past.numbers = answer.numbers;
  past.times = answer.times;
  for (const q of Object.keys(past.highest)) past.highest[q] = answer.highest[q] ?? [];
};

const makeMap = () => {
  const place = $('map');
  map = topology.isLarge ? new Weir.HeatMap(place, topology, palette, pick) : new Weir.SvgMap(place, topology, palette, pick);
};

let reloading = false;
const reload = async () => {
  if (reloading) return;
  reloading = true;
  try { await start(); } finally { reloading = false; }
};

const start = async () => {
  labForm = null;
  const answers = Promise.all([Weir.ask('/api/history'), Weir.ask('/api/events'), Weir.ask('/api/findings')]);
  answers.catch(() => {});    // said below
  topology = new Weir.Topology(await Weir.ask('/api/topology'));
  const first = Weir.ask(frameUrl(0)).catch(() => null);
  $('title').textContent = topology.title || topology.hosts[0]?.name || '';
  $('simulated').hidden = !topology.simulated;
  const modes = {host: 'this host', recorded: 'recorded hosts', lab: 'lab', fleet: 'fleet',
    replay: 'recording'};
  $('subtitle').textContent = [modes[topology.mode], topology.design && `design ${topology.design}`,
    topology.load && `load ${topology.load}`].filter(Boolean).join(' · ');
  showQuantities();
  showLegend();
  showCrumbs();
  makeMap();
  const answer = await first;
  if (answer) { live = shown = Weir.decodeFrame(answer); keep(live); map.update(live, state.quantity); }
  const [kept, noted, judged] = await answers;
  takeHistory(kept);
  if (live) remember(live);
  for (const event of noted.events) takeEvent(event);
  findings = judged;
  showFindings();
  showLog();
  buildTable();
  showPort();
  loadChart();
  loadLab();
  if (topology.mode === 'replay' && !state.at && past.numbers.length) state.at = past.numbers[0];
  if (isPast()) await goTo(state.at);
  draw();
  highlight();
  drawTimeline();
  openStream();
  if (state.follow) refreshFollow();
  Weir.stats.firstPaint ||= performance.now();
};

// ---- keys and the rest

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.id !== 'scrub') return;
  const keys = {ArrowLeft: () => step(-1), ArrowRight: () => step(1), n: goLive, f: followLongest,
    Escape: () => { if (follow) closeFollow(); else if (state.port) leavePort(); else pick(state.device && state.rail !== null ? {rail: state.rail} : {}); }};
  Object.keys(Weir.VIEWS).forEach((name, i) => { keys[i + 1] = () => setQuantity(name); });
  if (event.key === ' ' && event.target.tagName !== 'BUTTON' && event.target.getAttribute?.('role') !== 'button') { event.preventDefault(); play(); return; }
  if (event.target.id === 'scrub' && event.key.startsWith('Arrow')) return;
  if (Object.hasOwn(keys, event.key)) { keys[event.key](); }
});
$('play').addEventListener('click', play);
$('now').addEventListener('click', goLive);
$('back').addEventListener('click', () => { stopPlaying(); step(-1); });
$('forth').addEventListener('click', () => { stopPlaying(); step(1); });
$('follow-longest').addEventListener('click', followLongest);
$('scrub').addEventListener('input', () => {
  stopPlaying();
  const number = past.numbers[Number($('scrub').value)];
  if (number) goTo(number);
});
document.addEventListener('visibilitychange', () => {
  if (!topology) return;
  if (document.hidden) { source?.close(); source = null; } else { loadHistory().then(() => { openStream(); loadSparks(); loadChart(); drawTimeline(); }).catch(() => {}); }
});
addEventListener('hashchange', () => { Object.assign(state, Weir.readState()); reload(); });
let resized = 0;
new ResizeObserver(() => { ribbonSize = null; if (topology) drawTimeline(); }).observe($('ribbon'));
addEventListener('resize', () => { clearTimeout(resized); resized = setTimeout(() => { if (topology) { makeMap(); draw(); highlight(); drawTimeline(); } }, 150); });
palette.onchange = () => { if (topology) { makeMap(); showLegend(); draw(); highlight(); loadChart(); drawTimeline(); } };
setInterval(showAge, 1000);

const begin = () => start().catch((error) => {
  showTrouble(`${error.message}. Trying again.`);
  setTimeout(begin, 2000);
});
begin();
})();
