// Memberships along a trajectory, stacked.

async function startTimeline() {
  const { trajectories, unit: clock } = DATA.timeline;
  const choice = byId("timeline-choice");
  fillSelect(choice, trajectories.map((_, number) => String(number)));
  byId("timeline-label").hidden = trajectories.length === 1;

  async function redraw() {
    const { times, totals } = trajectories[Number(choice.value)];
    const [length, states] = totals.shape;
    const sums = await unpack(totals);
    const traces = Array.from({ length: states }, (_, state) => ({
      type: "scatter", mode: "lines", stackgroup: "memberships", name: `state ${state}`, x: times,
      y: Array.from({ length }, (_, at) => (sums[at * states + state] - (state ? sums[at * states + state - 1] : 0)) / FULL),
      line: { width: 0 }, fillcolor: DATA.colors[state], hovertemplate: "%{y:.2f}",
    }));
    await draw("timeline-plot", traces, {
      xaxis: { ...AXIS, title: { text: clock === "frame" ? "frame" : `time (${clock})` } },
      yaxis: { ...AXIS, title: { text: "membership" }, range: [0, 1], fixedrange: true },
      hovermode: "x unified",
      showlegend: false,
      margin: { l: 62, r: 16, t: 30, b: 52 },
    });
  }

  choice.addEventListener("change", redraw);
  await redraw();
}
