// Structures in 3D: balls and sticks, or a trace of the backbone of large molecules.

const ELEMENTS = {
  // colour, radius of the ball in nm
  H: ["#e8e8e8", 0.024], C: ["#5c6670", 0.036], N: ["#3366cc", 0.036], O: ["#d93025", 0.036],
  S: ["#e0b400", 0.043], P: ["#e67e22", 0.043], F: ["#4caf50", 0.034], Cl: ["#2e9e4f", 0.043], Br: ["#8c3b1f", 0.045],
};
const OTHER_ELEMENT = ["#b07cc6", 0.038];
const STICK = 0.014; // nm

async function startStructures() {
  const data = DATA.structures;
  if (!hasWebGL()) {
    say("structure-plot", "The 3D view needs WebGL, which this browser does not offer or has switched off.");
    return;
  }
  const positions = await unpack(data.positions);
  const bonds = await unpack(data.bonds);
  const atoms = data.elements.length;
  const choice = byId("structure-choice");
  fillSelect(choice, data.structures.map((structure) => structure.name));

  function redraw() {
    const at = Number(choice.value);
    const place = (atom) => [0, 1, 2].map((axis) => positions[(at * atoms + atom) * 3 + axis]);
    const places = Array.from({ length: atoms }, (_, atom) => place(atom));
    const structure = data.structures[at];
    byId("structure-name").textContent = structure.name;
    byId("structure-words").textContent = [structure.where, structure.torsions && `φ, ψ: ${structure.torsions}`].filter(Boolean).join("; ");
    fillLegend(byId("structure-memberships"), structure.memberships);
    const color = DATA.colors[structure.states[0]];
    return draw("structure-plot", data.trace ? trace(data, places, bonds, color) : ballsAndSticks(data, places, bonds), sceneLayout());
  }

  choice.addEventListener("change", redraw);
  await redraw();
}

function hasWebGL() {
  return Boolean(document.createElement("canvas").getContext("webgl"));
}

const NO_AXIS = { visible: false, showspikes: false };

function sceneLayout() {
  // The molecule fills the height of the view; seen from farther away it fits into a narrow one, too.
  const plot = byId("structure-plot");
  const far = Math.max(1, (1.2 * plot.clientHeight) / plot.clientWidth);
  return {
    margin: { l: 0, r: 0, t: 0, b: 0 },
    showlegend: false,
    scene: {
      xaxis: NO_AXIS, yaxis: NO_AXIS, zaxis: NO_AXIS, aspectmode: "data",
      camera: { eye: { x: 0.3 * far, y: -0.35 * far, z: 1.6 * far }, up: { x: 0, y: 1, z: 0 } },
    },
    uirevision: "structure", // the view stays when another structure is chosen
  };
}

function ballsAndSticks(data, places, bonds) {
  const sphere = sphereMesh(places.length > 120 ? 8 : 14);
  const mesh = newMesh();
  places.forEach((center, atom) => {
    const [color, radius] = ELEMENTS[data.elements[atom]] ?? OTHER_ELEMENT;
    const points = sphere.points.map((point) => point.map((value, axis) => center[axis] + radius * value));
    addFaces(mesh, points, sphere.faces, color, data.names[atom]);
  });
  for (let at = 0; at < bonds.length; at += 2) {
    const [a, b] = [bonds[at], bonds[at + 1]];
    const middle = places[a].map((value, axis) => (value + places[b][axis]) / 2);
    for (const atom of [a, b]) {
      const [color] = ELEMENTS[data.elements[atom]] ?? OTHER_ELEMENT;
      const tube = tubeMesh(places[atom], middle, STICK, 10);
      addFaces(mesh, tube.points, tube.faces, color, `${data.names[a]} – ${data.names[b]}`);
    }
  }
  return [mesh];
}

function trace(data, places, bonds, color) {
  const [x, y, z, text] = [[], [], [], []];
  for (let at = 0; at < bonds.length; at += 2) {
    for (const atom of [bonds[at], bonds[at + 1]]) {
      x.push(places[atom][0]);
      y.push(places[atom][1]);
      z.push(places[atom][2]);
      text.push(data.names[atom]);
    }
    for (const list of [x, y, z, text]) list.push(null); // the pen is lifted between bonds
  }
  return [{ type: "scatter3d", mode: "lines", x, y, z, text, hoverinfo: "text", line: { color, width: 9 } }];
}

function newMesh() {
  return {
    type: "mesh3d", x: [], y: [], z: [], i: [], j: [], k: [], vertexcolor: [], text: [], hoverinfo: "text", flatshading: false,
    lighting: { ambient: 0.55, diffuse: 0.75, specular: 0.25, roughness: 0.45, fresnel: 0.1 },
    lightposition: { x: 3000, y: 5000, z: 8000 },
  };
}

function addFaces(mesh, points, faces, color, name) {
  const first = mesh.x.length;
  for (const [x, y, z] of points) {
    mesh.x.push(x);
    mesh.y.push(y);
    mesh.z.push(z);
    mesh.vertexcolor.push(color);
    mesh.text.push(name);
  }
  for (const [i, j, k] of faces) {
    mesh.i.push(first + i);
    mesh.j.push(first + j);
    mesh.k.push(first + k);
  }
}

// Faces between rings of points, each ring with the same number of them.
function ringFaces(rings, around) {
  const faces = [];
  for (let ring = 0; ring + 1 < rings; ring++) {
    for (let at = 0; at < around; at++) {
      const [a, b] = [ring * around + at, ring * around + ((at + 1) % around)];
      faces.push([a, b, b + around], [a, b + around, a + around]);
    }
  }
  return faces;
}

function sphereMesh(detail) {
  const points = [];
  for (let ring = 0; ring <= detail; ring++) {
    const polar = (Math.PI * ring) / detail;
    for (let at = 0; at < 2 * detail; at++) {
      const angle = (Math.PI * at) / detail;
      points.push([Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), Math.cos(polar)]);
    }
  }
  return { points, faces: ringFaces(detail + 1, 2 * detail) };
}

function tubeMesh(start, end, radius, around) {
  const along = end.map((value, axis) => value - start[axis]);
  const away = Math.abs(along[0]) < 0.6 * Math.hypot(...along) ? [1, 0, 0] : [0, 1, 0];
  const u = unit(cross(along, away));
  const v = unit(cross(along, u));
  const points = [start, end].flatMap((center) =>
    Array.from({ length: around }, (_, at) => {
      const angle = (2 * Math.PI * at) / around;
      return center.map((value, axis) => value + radius * (Math.cos(angle) * u[axis] + Math.sin(angle) * v[axis]));
    }),
  );
  return { points, faces: ringFaces(2, around) };
}

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((value) => value / (Math.hypot(...a) || 1));
