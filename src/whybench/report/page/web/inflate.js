// Episodes are compressed in the page. Each is decompressed when it is opened.

const index = JSON.parse(byId("page-index").textContent);

async function inflate(id) {
  const raw = atob(byId(id).textContent);
  const bytes = Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** The annotated episode of the episode at a place of the index, with its document. */
async function fetchEpisode(place) {
  const told = await inflate(`packed-e${place}`);
  told.text = told.textAt == null ? null : await inflate(`packed-t${told.textAt}`);
  return told;
}
