// The interactive Ramachandran plot, or the same over two other coordinates.

async function startMap() {
  const map = DATA.map;
  const shown = { plane: 0, view: "states", beta: map.chosen, state: 0 };
  const slider = byId("map-beta");
  const planes = [];

  const names = map.planes.map((plane) => plane.name);
  fillSelect(byId("map-plane"), names);
  byId("map-search-label").hidden = names.length <= 12;
  byId("map-search").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    const found = names.map((name, at) => [name, at]).filter(([name]) => name.toLowerCase().includes(wanted));
    byId("map-plane").replaceChildren(...found.map(([name, at]) => new Option(name, String(at))));
    if (!found.length) return;
    shown.plane = found[0][1];
    redraw();
  });
  byId("map-plane-label").hidden = map.planes.length === 1;
  fillSelect(byId("map-state"), DATA.colors.map((_, state) => String(state)));
  slider.max = String(map.betas.length - 1);
  slider.value = String(map.chosen);
  byId("map-beta-controls").hidden = map.betas.length === 1;

  async function redraw() {
    planes[shown.plane] ??= await unpackPlane(map.planes[shown.plane]);
    const plane = planes[shown.plane];
    const picture = PICTURES[shown.view](plane, shown);
    const layer = {
      type: "heatmap",
      ...gridOf(plane),
      z: onGrid(plane, picture.values),
      text: onGrid(plane, Array.from(plane.cells, (_, cell) => binText(plane, shown.beta, cell)), ""),
      hoverinfo: "text",
      hoverongaps: false,
      ...picture.style,
    };
    describe(map, shown);
    fitHeight(plane);
    await draw("map-plot", [layer, ...marks(plane, shown)], mapLayout(plane, `${shown.plane}`));
  }

  byId("map-plane").addEventListener("change", (event) => {
    shown.plane = Number(event.target.value);
    redraw();
  });
  byId("map-view").addEventListener("change", (event) => {
    shown.view = event.target.value;
    redraw();
  });
  byId("map-state").addEventListener("change", (event) => {
    shown.state = Number(event.target.value);
    redraw();
  });
  slider.addEventListener("input", () => {
    shown.beta = Number(slider.value);
    redraw();
  });
  await redraw();
  if (map.panels) await drawPanels(map);
}

// The states of all residues of a small peptide side by side.
async function drawPanels(map) {
  const place = byId("map-panels");
  place.hidden = false;
  for (const [at, plane] of map.planes.entries()) {
    if (!plane.angles[0]) continue;
    const panel = document.createElement("div");
    panel.className = "panel";
    panel.id = `map-panel-${at}`;
    place.append(panel);
    const unpacked = await unpackPlane(plane);
    const picture = PICTURES.states(unpacked, { beta: map.chosen });
    const layer = { type: "heatmap", ...gridOf(unpacked), z: onGrid(unpacked, picture.values), hoverinfo: "skip", hoverongaps: false, ...picture.style };
    const layout = mapLayout(unpacked, "panel");
    for (const axis of [layout.xaxis, layout.yaxis]) Object.assign(axis, { title: { text: "" }, fixedrange: true, dtick: 180, tickfont: { size: 10 } });
    layout.margin = { l: 34, r: 6, t: 26, b: 22 };
    layout.title = { text: plane.name, font: { size: 13 }, x: 0.55, y: 0.97, yanchor: "top" };
    await Plotly.react(panel.id, [layer], styled(layout), { ...CONFIG, displayModeBar: false });
  }
}

async function unpackPlane(plane) {
  const [cells, counts, layers] = await Promise.all([unpack(plane.cells), unpack(plane.counts), unpack(plane.layers)]);
  const [, rows, width] = plane.layers.shape;
  // Row 0: the state of most frames; row 1: second-highest membership; then the membership of each state.
  const row = (beta, number) => {
    const at = Math.max(0, plane.betas.indexOf(beta)); // a plane with one beta shows the one that was used
    return layers.subarray((at * rows + number) * width, (at * rows + number + 1) * width);
  };
  return { ...plane, cells, counts, row, largest: counts.reduce((a, b) => Math.max(a, b), 1) };
}

const known = (values, scale) => Array.from(values, (value) => (value === NO_STATE ? null : value * scale));

// What each view paints: a value per bin, and how values become colours.
const PICTURES = {
  states(plane, shown) {
    const depth = Math.log1p(plane.largest);
    const number = DATA.colors.length;
    // Each state has a band of the colour scale, from pale where frames are few to full where they are many.
    const values = Array.from(plane.row(shown.beta, 0), (state, cell) =>
      state === NO_STATE ? null : state + (0.999 * Math.log1p(plane.counts[cell])) / depth,
    );
    const scale = DATA.colors.flatMap((color, state) => [
      [state / number, pale(color)],
      [(state + 1) / number, color],
    ]);
    return { values, style: { colorscale: scale, zmin: 0, zmax: number, showscale: false } };
  },
  second(plane, shown) {
    const bar = colorBar("second-highest membership");
    return { values: known(plane.row(shown.beta, 1), 1 / FULL), style: { colorscale: DATA.scales.second, zmin: 0, zmax: 0.5, colorbar: bar } };
  },
  one(plane, shown) {
    const bar = colorBar(`membership of state ${shown.state}`);
    return { values: known(plane.row(shown.beta, 2 + shown.state), 1 / FULL), style: { colorscale: DATA.scales.density, zmin: 0, zmax: 1, colorbar: bar } };
  },
  density(plane) {
    if (plane.energies) {
      const highest = plane.energies.reduce((a, b) => Math.max(a, b ?? 0), 1);
      const reversed = DATA.scales.density.map(([place, color]) => [1 - place, color]).reverse();
      return { values: plane.energies, style: { colorscale: reversed, zmin: 0, zmax: highest, colorbar: colorBar("free energy (kT)") } };
    }
    const top = Math.max(1, Math.ceil(Math.log10(plane.largest)));
    const ticks = Array.from({ length: top + 1 }, (_, power) => power);
    const bar = { ...colorBar("frames per bin"), tickvals: ticks, ticktext: ticks.map((power) => count(10 ** power)) };
    return { values: Array.from(plane.counts, Math.log10), style: { colorscale: DATA.scales.density, zmin: 0, zmax: Math.log10(plane.largest) || 1, colorbar: bar } };
  },
};

const colorBar = (title) => ({ title: { text: title, side: "right" }, thickness: 14, outlinewidth: 0, len: 0.8 });

function pale(color) {
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return `rgb(${parts.map((part) => Math.round(255 - 0.5 * (255 - part))).join(",")})`;
}

function gridOf(plane) {
  const [x, y] = plane.edges.map(([low, high]) => ({ step: (high - low) / plane.bins, low }));
  return { x0: x.low + x.step / 2, dx: x.step, y0: y.low + y.step / 2, dy: y.step };
}

// One value per occupied bin -> rows along the second coordinate, as heatmaps want them.
function onGrid(plane, values, empty = null) {
  const rows = Array.from({ length: plane.bins }, () => new Array(plane.bins).fill(empty));
  plane.cells.forEach((cell, place) => {
    rows[cell % plane.bins][Math.floor(cell / plane.bins)] = values[place];
  });
  return rows;
}

function binText(plane, beta, cell) {
  const at = [Math.floor(plane.cells[cell] / plane.bins), plane.cells[cell] % plane.bins];
  const grid = gridOf(plane);
  const place = [grid.x0 + at[0] * grid.dx, grid.y0 + at[1] * grid.dy].map((value, axis) =>
    plane.angles[axis] ? `${value.toFixed(0)}°` : value.toPrecision(3),
  );
  const energy = plane.energies ? plane.energies[cell] : Math.log(plane.largest / plane.counts[cell]);
  const frames = `${count(plane.counts[cell])} frame${plane.counts[cell] === 1 ? "" : "s"}`;
  const lines = [`<b>${place.join(", ")}</b>: ${frames}, ${energy === null ? "no weight" : `${energy.toFixed(1)} kT above the lowest bin`}`];
  if (plane.row(beta, 0)[cell] === NO_STATE) return `${lines}<br>no memberships at this beta`;
  const shares = DATA.colors.map((_, state) => [plane.row(beta, 2 + state)[cell] / FULL, state]);
  shares.sort((a, b) => b[0] - a[0]);
  for (const [share, state] of shares.slice(0, 3)) if (share > 0.004) lines.push(`state ${state}: ${share.toFixed(2)}`);
  return lines.join("<br>");
}

function marks(plane, shown) {
  const circles = plane.peaks;
  const found = [];
  const between = plane.transitions;
  if (between && shown.view === "second") {
    found.push({
      type: "scatter", mode: "markers", x: between.x, y: between.y, text: between.text, hoverinfo: "text",
      marker: { symbol: "diamond", size: 11, color: "#ffffff", line: { color: "#1f2933", width: 1.5 } }, showlegend: false,
    });
  }
  const { labels } = circles;
  found.push({
    type: "scatter", mode: "lines", hoverinfo: "skip", line: { color: "#1f2933", width: 1 }, showlegend: false,
    x: circles.x.flatMap((x, at) => [x, labels.x[at], null]), y: circles.y.flatMap((y, at) => [y, labels.y[at], null]),
  });
  found.push({
    type: "scatter", mode: "markers+text", x: labels.x, y: labels.y, hovertext: circles.text, hoverinfo: "text",
    text: circles.states.map((state) => `<b>${state}</b>`), textfont: { size: 12, color: "#1f2933" },
    marker: { size: 21, color: "#ffffff", line: { color: "#1f2933", width: 1.5 } }, showlegend: false, cliponaxis: false,
  });
  return found;
}

// Where both axes have one scale, a plane that is wider than high needs less height.
function fitHeight(plane) {
  const place = byId("map-plot");
  place.style.height = "";
  place.style.minHeight = "";
  if (!plane.equal) return;
  const [width, height] = plane.edges.map(([low, high]) => high - low);
  const needed = ((place.clientWidth - MAP_MARGIN.l - MAP_MARGIN.r) * height) / width + MAP_MARGIN.t + MAP_MARGIN.b;
  if (needed >= place.clientHeight) return;
  place.style.minHeight = "0";
  place.style.height = `${Math.max(needed, 240)}px`;
}

const MAP_MARGIN = { l: 60, r: 10, t: 34, b: 52 };

function mapLayout(plane, revision) {
  const axis = (which, more) => ({
    ...AXIS, title: { text: plane.labels[which] }, range: plane.edges[which], showgrid: false, showline: true, mirror: true,
    ...(plane.angles[which] ? { dtick: (plane.edges[which][1] - plane.edges[which][0]) / 4 } : {}), ...more,
  });
  return {
    xaxis: axis(0, { constrain: "domain" }),
    yaxis: axis(1, plane.equal ? { scaleanchor: "x", constrain: "domain" } : {}),
    uirevision: revision, // zoom stays when the view or beta changes
    margin: MAP_MARGIN,
  };
}

function describe(map, shown) {
  const beta = map.betas[shown.beta];
  const name = beta === "2" ? "temperature of the simulation" : beta === "∞" ? "density ignored" : Number(beta) < 2 ? "colder than the simulation" : "hotter than the simulation";
  byId("map-beta-text").textContent = `beta = ${beta}, ${name}${shown.beta === map.chosen ? " (used)" : ""}`;
  const of = map.scanned[shown.beta] === DATA.frames ? (map.weighted ? "of the weight" : "of all frames") : `of ${count(map.scanned[shown.beta])} evenly spaced frames`;
  byId("map-words").textContent = `${percent(map.between[shown.beta])} ${of} have no membership above 90 %. Mean memberships:`;
  const fixed = shown.view === "density" || map.planes[shown.plane].betas.length === 1;
  byId("map-beta-controls").classList.toggle("dimmed", fixed);
  byId("map-state-label").hidden = shown.view !== "one";
  fillLegend(byId("map-legend"), map.fractions[shown.beta]);
}
