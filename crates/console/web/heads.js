// The heads of columns stay in sight: below the crown while the page moves, or above a table that is moved by itself.

function judge(table) {
  const place = table.parentElement;
  if (!place) return;
  const isWide = place.scrollWidth > place.clientWidth;
  place.classList.toggle("fits", !isWide);
  place.classList.toggle("moves", isWide);
}

const watcher = new ResizeObserver((seen) => seen.forEach((one) => judge(one.target)));

/** A place with a table in it, which is moved by itself only where the table has no room. */
export function headed(place) {
  watcher.observe(place.querySelector("table"));
  return place;
}
