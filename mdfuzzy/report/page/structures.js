// The structures of states and transitions in 3D, drawn by 3Dmol.js.

const VIEWS = {
  cartoon: "cartoon",
  sides: "cartoon and side chains",
  trace: "trace of the backbone",
  sticks: "sticks",
};
const GREY = "#9aa5b1";

async function startStructures() {
  const data = DATA.structures;
  if (!hasWebGL()) {
    say("structure-plot", "The 3D view needs WebGL, which this browser does not offer or has switched off.");
    return;
  }
  const positions = await unpack(data.positions);
  const bonds = await unpack(data.bonds);
  const names = data.structures.map((structure) => structure.name);
  const [choice, other, view] = ["structure-choice", "structure-other", "structure-view"].map(byId);
  fillSelect(choice, names);
  fillSelect(other, ["none", ...names]);
  const views = { cartoon: ["cartoon", ...(data.sides ? ["sides"] : []), "trace", "sticks"], trace: ["trace"], sticks: ["sticks"] }[data.view];
  view.replaceChildren(...views.map((name) => new Option(VIEWS[name], name)));
  byId("structure-view-label").hidden = views.length === 1;

  const viewer = $3Dmol.createViewer(byId("structure-plot"), { backgroundColor: "white", antialias: true });
  byId("structure-plot").viewer = viewer;
  let shown = false;

  function add(at, color) {
    const model = viewer.addModel();
    model.addAtoms(atomsOf(data, positions, bonds, at));
    style(model, data, view.value, color);
    model.setHoverable({}, true, showName(viewer), hideName(viewer));
  }

  function redraw() {
    const at = Number(choice.value);
    const structure = data.structures[at];
    viewer.removeAllModels();
    viewer.removeAllLabels();
    if (other.value !== "0") add(Number(other.value) - 1, GREY);
    add(at, blend(structure.states.map((state) => DATA.colors[state])));
    if (!shown) viewer.zoomTo();
    shown = true; // the view stays when another structure is chosen
    viewer.render();
    byId("structure-name").textContent = structure.name;
    byId("structure-words").textContent = [structure.where, structure.torsions && `φ, ψ: ${structure.torsions}`].filter(Boolean).join("; ");
    fillLegend(byId("structure-memberships"), structure.memberships);
  }

  for (const select of [choice, other, view]) select.addEventListener("change", redraw);
  window.addEventListener("resize", () => viewer.resize());
  redraw();
}

function hasWebGL() {
  const canvas = document.createElement("canvas");
  return Boolean(canvas.getContext("webgl2") ?? canvas.getContext("webgl"));
}

// The atoms of one structure as 3Dmol.js takes them, in angstrom. Each piece of a chain is a chain of its own, so
// that nothing is drawn across a break.
function atomsOf(data, positions, bonds, at) {
  const number = data.names.length;
  const folds = data.structures[at].folds;
  const fold = (atom) => folds[data.places[atom]] ?? "c";
  const alone = (atom, step) => fold(atom) !== (folds[data.places[atom] + step] ?? "c");
  const atoms = data.names.map((name, atom) => ({
    atom: name, elem: data.elements[atom] || "C", resn: data.residues[atom], resi: data.places[atom] + 1,
    chain: `${data.pieces[atom]}`, hetflag: false, serial: atom, index: atom, bonds: [], bondOrder: [],
    ss: fold(atom), ssbegin: alone(atom, -1), ssend: alone(atom, 1),
    x: positions[3 * (at * number + atom)] / 100,
    y: positions[3 * (at * number + atom) + 1] / 100,
    z: positions[3 * (at * number + atom) + 2] / 100,
  }));
  for (let bond = 0; bond < bonds.length; bond += 2) {
    const [a, b] = [atoms[bonds[bond]], atoms[bonds[bond + 1]]];
    a.bonds.push(b.index);
    b.bonds.push(a.index);
    a.bondOrder.push(1);
    b.bondOrder.push(1);
  }
  return atoms;
}

// Carbon (and a cartoon) has the colour of the state, other elements their own.
function style(model, data, view, color) {
  const scheme = { colorscheme: { prop: "elem", map: { ...$3Dmol.elementColors.Jmol, C: color } } };
  const thin = { stick: { radius: 0.12, ...scheme } };
  if (view === "sticks") {
    const small = data.names.length <= 120;
    model.setStyle({}, small ? { stick: { radius: 0.13, ...scheme }, sphere: { scale: 0.23, ...scheme } } : thin);
  } else if (view === "trace") {
    if (data.view !== "trace") model.setStyle({}, { cartoon: { style: "trace", color, thickness: 0.35 } });
    else model.setStyle({}, { stick: { radius: 0.3, color } });
  } else {
    model.setStyle({}, { cartoon: { color, arrows: true } });
    const inside = new Set(data.residues.filter((_, atom) => ["CA", "P"].includes(data.names[atom])));
    const outside = (atom) => !inside.has(atom.resn); // ligands and ions have no cartoon
    model.setStyle({ predicate: outside }, { stick: { radius: 0.16, ...scheme } });
    if (view === "sides") model.setStyle({ predicate: (atom) => !["N", "C", "O"].includes(atom.atom) || outside(atom) }, thin, true);
  }
}

// The mean of colours "#rrggbb".
function blend(colors) {
  const parts = [1, 3, 5].map((at) => colors.reduce((sum, color) => sum + parseInt(color.slice(at, at + 2), 16), 0));
  return `#${parts.map((part) => Math.round(part / colors.length).toString(16).padStart(2, "0")).join("")}`;
}

const showName = (viewer) => (atom) => {
  const text = [atom.resn, atom.atom].filter(Boolean).join(" ");
  const position = { x: atom.x, y: atom.y, z: atom.z };
  viewer.addLabel(text, { position, fontSize: 13, fontColor: "#1f2933", backgroundColor: "#ffffff", backgroundOpacity: 0.85 });
  viewer.render();
};
const hideName = (viewer) => () => {
  viewer.removeAllLabels();
  viewer.render();
};
