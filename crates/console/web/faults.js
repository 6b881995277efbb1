// What is wrong with what stands in a field, said at the field until somebody mends it.

import { fresh, h } from "./dom.js";

const said = new WeakMap();

function mended(input) {
  said.get(input)?.remove();
  said.delete(input);
  input.removeAttribute("aria-invalid");
  input.removeAttribute("aria-describedby");
}

/** A word below a field; it is gone as soon as something else stands there. */
export function markFault(input, text) {
  mended(input);
  const word = h("span", { class: "fault", id: fresh("fault") }, text);
  said.set(input, word);
  input.after(word);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", word.id);
  for (const change of ["input", "change"]) input.addEventListener(change, () => mended(input), { once: true });
}
