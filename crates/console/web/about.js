// The page about the server, beside the console: it comes in English, and is put into the language that was chosen here.

import { language, t } from "./texts.js";

/** What has a name or a figure in it. */
const GIVEN = [
  [/^Version (.+)$/, "Version {version}", "version"],
  [/^Dialect (\S+)$/, "Dialect {letter}", "letter"],
];

/** A text between two tags; what it begins with after a link stays before it. */
function translated(text) {
  const [, before, said, after] = /^([\s:,]*)([^]*?)(\s*)$/.exec(text);
  for (const [pattern, sentence, name] of GIVEN) {
    const found = pattern.exec(said);
    if (found) return before + t(sentence, { [name]: found[1] }) + after;
  }
  return before + t(said) + after;
}

function speak() {
  document.documentElement.lang = language();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = translated(texts.currentNode.data);
  for (const one of document.querySelectorAll("[aria-label]")) one.setAttribute("aria-label", t(one.getAttribute("aria-label")));
}

if (language() !== "en") speak();
