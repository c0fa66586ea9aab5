"use strict";
// What all plots of the page share: the data, the style, and small helpers.

const TYPES = { uint8: Uint8Array, int32: Int32Array, float32: Float32Array };
const NO_STATE = 255; // in arrays of states, and of shares that are not known
const FULL = 250; // a share of 1

const byId = (id) => document.getElementById(id);
const DATA = JSON.parse(byId("report-data").textContent);

// The way back from `pack` in packing.py: base64, compressed bytes, numbers.
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new TYPES[packed.type](await new Response(stream).arrayBuffer());
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const AXIS = { gridcolor: "#e9edf2", linecolor: "#9aa5b1", zeroline: false, ticks: "outside", ticklen: 4, tickcolor: "#9aa5b1" };

function styled(layout) {
  return {
    font: { family: FONT, size: 13, color: "#1f2933" },
    paper_bgcolor: "#ffffff",
    plot_bgcolor: "#ffffff",
    hoverlabel: { bgcolor: "#ffffff", bordercolor: "#9aa5b1", font: { family: FONT, size: 13, color: "#1f2933" }, align: "left" },
    margin: { l: 62, r: 16, t: 16, b: 52 },
    ...layout,
  };
}

const NARROW = window.innerWidth <= 600;
const CONFIG = {
  responsive: true,
  displaylogo: false,
  displayModeBar: NARROW ? false : "hover", // its buttons would cover legends
  showSendToCloud: false, // newer releases offer it by default
  plotlyServerURL: "",
  modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d", "hoverClosestCartesian", "hoverCompareCartesian"],
};

function draw(id, traces, layout) {
  return Plotly.react(id, traces, styled(layout), CONFIG);
}

const percent = (share) => (share === 0 ? "0 %" : `${Number((100 * share).toPrecision(3))} %`);
const count = (number) => number.toLocaleString("en-US");

function fillSelect(select, names) {
  select.replaceChildren(...names.map((name, place) => new Option(name, String(place))));
}

// A list of states with a bar and a number for each.
function fillLegend(list, shares) {
  list.replaceChildren(
    ...shares.map((share, state) => {
      const item = document.createElement("li");
      const color = DATA.colors[state];
      item.innerHTML = '<i></i><span></span><span class="bar"><i></i></span><b></b>';
      const [chip, name, bar, number] = item.children;
      chip.style.background = color;
      name.textContent = `state ${state}`;
      bar.firstChild.style.cssText = `width:${100 * share}%;background:${color};border-radius:0`;
      number.textContent = percent(share);
      return item;
    }),
  );
}

// Run one part of the page; if it fails say so in its place, and let the others go on.
async function part(id, start) {
  if (!byId(id)) return;
  try {
    await start();
  } catch (error) {
    console.error(error);
    say(id, `This plot could not be drawn: ${error.message}`);
  }
}

function say(id, words) {
  const place = byId(id);
  place.classList.add("failed");
  place.textContent = words;
}
