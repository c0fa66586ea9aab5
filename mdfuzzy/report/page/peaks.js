// The persistence diagram, in which the choice of a threshold shows the number of states.

async function startPeaks() {
  const peaks = DATA.peaks;
  const slider = byId("peaks-threshold");
  const finite = peaks.prominences.filter((value) => value !== null && value > 0);
  const low = Math.min(peaks.prominence, ...finite) * 0.9;
  const high = Math.max(peaks.prominence, ...finite) * 1.15;
  const steps = Number(slider.max);
  const toSlider = (value) => Math.round((steps * Math.log(value / low)) / Math.log(high / low));
  const fromSlider = (place) => low * (high / low) ** (place / steps);

  function choose(threshold) {
    slider.value = String(toSlider(threshold));
    byId("peaks-text").textContent = threshold.toPrecision(3) + (threshold === peaks.prominence ? " (used)" : "");
    const number = peaks.prominences.filter((value) => value === null || value >= threshold).length;
    byId("peaks-count").textContent = `${number} state${number === 1 ? "" : "s"}`;
    byId("peaks-reset").hidden = threshold === peaks.prominence;
    byId("peaks-words").textContent = difference(peaks, threshold);
    return draw("peaks-plot", peakTraces(peaks, threshold), peakLayout(peaks));
  }

  slider.addEventListener("input", () => choose(fromSlider(Number(slider.value))));
  byId("peaks-reset").addEventListener("click", () => choose(peaks.prominence));
  await choose(peaks.prominence);
  byId("peaks-plot").on("plotly_click", (event) => {
    const clicked = peaks.prominences[event.points[0].customdata];
    if (clicked === null || clicked === undefined) return;
    // In the middle of the gap below the peak, on the logarithmic scale.
    const next = Math.max(low, ...finite.filter((value) => value < clicked));
    choose(Math.sqrt(clicked * next));
  });
}

// What the threshold changes: which states join which, and which peaks become states.
function difference(peaks, threshold) {
  const isState = (at) => peaks.prominences[at] === null || peaks.prominences[at] >= threshold;
  const sentences = [];
  peaks.states.forEach((state, at) => {
    if (state < 0 || isState(at)) return;
    let into = peaks.parents[at];
    while (!isState(into)) into = peaks.parents[into];
    sentences.push(`state ${state} joins ${peaks.states[into] < 0 ? "a new one" : `state ${peaks.states[into]}`}`);
  });
  const more = peaks.states.map((state, at) => at).filter((at) => peaks.states[at] < 0 && isState(at));
  if (more.length) {
    const places = more.slice(0, 3).map((at) => peaks.where[at]).filter(Boolean);
    const where = places.length ? ` (${places.join("; ")}${more.length > 3 ? "; …" : ""})` : "";
    sentences.push(`${more.length} more peak${more.length === 1 ? " is a state" : "s are states"}${where}`);
  }
  if (!sentences.length) return threshold === peaks.prominence ? "as in this report." : "the same as in this report.";
  return `${sentences.slice(0, 6).join("; ")}. To apply it: prominence = ${threshold.toPrecision(3)}.`;
}

function peakTraces(peaks, threshold) {
  const floor = floorOf(peaks);
  const number = peaks.births.length;
  const isState = peaks.prominences.map((value) => value === null || value >= threshold);
  const colors = peaks.states.map((state, at) => (!isState[at] ? "#c3cad2" : state < 0 ? "#1f2933" : DATA.colors[state]));
  const text = peaks.births.map((birth, at) => {
    const name = peaks.states[at] < 0 ? "peak" : `state ${peaks.states[at]}`;
    const prominence = peaks.prominences[at] === null ? "never dies" : `prominence ${peaks.prominences[at].toPrecision(3)}`;
    return [`<b>${name}</b>: ${prominence}`, peaks.where[at]].filter(Boolean).join("<br>");
  });
  const order = peaks.births.map((_, at) => number - 1 - at); // the most prominent drawn last, on top
  const pick = (values) => order.map((at) => values[at]);
  const dots = {
    type: "scatter", mode: "markers", hoverinfo: "text", text: pick(text), customdata: order, showlegend: false,
    marker: {
      size: pick(isState.map((state) => (state ? 12 : 7))), color: pick(colors), opacity: 1,
      symbol: pick(peaks.deaths.map((death) => (death === null ? "triangle-down" : "circle"))),
      line: { color: "#ffffff", width: 1 },
    },
  };
  const top = Math.max(...peaks.births);
  const line = (x, y, style, more) => ({ type: "scatter", mode: "lines", x, y, hoverinfo: "skip", showlegend: false, line: style, ...more });
  const cut = { color: "#b3261e", width: 1.5, dash: "dash" };
  const tallest = Math.max(threshold, ...peaks.prominences.filter((value) => value !== null));
  return [
    line([floor, top], [floor, top], { color: "#c3cad2", width: 1 }),
    line([floor + threshold, top], [floor, top - threshold], cut),
    { ...dots, x: pick(peaks.births), y: pick(peaks.deaths.map((death) => death ?? floor)) },
    line([0.5, number + 0.5], [threshold, threshold], cut, { xaxis: "x2", yaxis: "y2" }),
    { ...dots, x: order.map((at) => at + 1), y: pick(peaks.prominences.map((value) => value ?? 2 * tallest)), xaxis: "x2", yaxis: "y2" },
  ];
}

// Peaks that never die stand below all others.
function floorOf(peaks) {
  const known = [...peaks.births, ...peaks.deaths.filter((death) => death !== null)];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return low - 0.08 * (high - low || 1);
}

// Ticks that say their whole number: 0.5, not a small 5.
function logTicks(values) {
  const found = values.filter((value) => value !== null && value > 0).map(Math.log10);
  const [low, high] = [Math.floor(Math.min(...found)), Math.ceil(Math.max(...found)) + 1];
  const steps = high - low > 3 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = low; power <= high; power++) for (const step of steps) ticks.push(Number(`${step}e${power}`));
  return { tickvals: ticks, ticktext: ticks.map(String) };
}

function peakLayout(peaks) {
  // Side by side, or one above the other where there is no room for that.
  const narrow = byId("peaks-plot").clientWidth < 560;
  const [left, right] = narrow ? [[0, 1], [0, 1]] : [[0, 0.46], [0.56, 1]];
  const [upper, lower] = narrow ? [[0.58, 1], [0, 0.42]] : [[0, 1], [0, 1]];
  return {
    xaxis: { ...AXIS, title: { text: "birth: log density at the peak" }, domain: left },
    yaxis: { ...AXIS, title: { text: "death: log density at the saddle" }, domain: upper },
    xaxis2: { ...AXIS, title: { text: "peaks by prominence" + (peaks.hidden ? ` (${count(peaks.hidden)} smaller ones not shown)` : "") }, domain: right, anchor: "y2", range: [0, peaks.births.length + 1] },
    yaxis2: { ...AXIS, title: { text: "prominence (▼ never dies)" }, type: "log", anchor: "x2", domain: lower, ...logTicks(peaks.prominences) },
    hovermode: "closest",
    uirevision: "peaks",
  };
}
