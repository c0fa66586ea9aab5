// Draws everything, one part after the other; `data-ready` on the page says that all is done.

// In a narrow window, smaller circles leave room for the lines between them and their labels.
function fitted(id, traces) {
  const narrow = Math.min(1, byId(id).clientWidth / 600);
  if (id !== "network-plot" || narrow === 1) return traces;
  const scaled = (size) => size.map((one) => Math.max(20, narrow * one));
  return traces.map((trace) => {
    if (trace.meta) return { ...trace, ...trace.meta.narrow };
    return trace.marker ? { ...trace, marker: { ...trace.marker, size: scaled(trace.marker.size) } } : trace;
  });
}

(async () => {
  await part("map-plot", startMap);
  await part("structure-plot", startStructures);
  await part("peaks-plot", startPeaks);
  await part("timeline-plot", startTimeline);
  for (const [id, figure] of Object.entries(DATA.figures)) {
    await part(id, () => draw(id, fitted(id, figure.data), figure.layout));
  }
  document.body.dataset.ready = "yes";
})();
