// Opens the folds around the element that the address names.

function unfold(element) {
  for (let fold = element?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
}

function unfoldNamed() {
  const named = location.hash.startsWith("#episode=") ? byId("page-viewer") : byId(location.hash.slice(1));
  if (!named?.closest("details:not([open])")) return;
  unfold(named);
  named.scrollIntoView();
}

addEventListener("hashchange", unfoldNamed);
unfoldNamed();
