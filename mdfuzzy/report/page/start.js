// Draws everything, one part after the other; `data-ready` on the page says that all is done.

(async () => {
  await part("map-plot", startMap);
  await part("structure-plot", startStructures);
  await part("peaks-plot", startPeaks);
  await part("timeline-plot", startTimeline);
  for (const [id, figure] of Object.entries(DATA.figures)) {
    await part(id, () => draw(id, figure.data, figure.layout));
  }
  document.body.dataset.ready = "yes";
})();
