// A page names the server that serves it, and what is to be typed can be copied.

const SAID = "http://127.0.0.1:5000";

const main = document.querySelector(".guide main");

// What is spoken of in a line, such as a default, is no address of this server.
const isSpokenOf = (text) => text.parentElement.closest("code") && !text.parentElement.closest("pre");

if (location.origin !== SAID) {
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (text.data.includes(SAID) && !isSpokenOf(text)) text.data = text.data.replaceAll(SAID, location.origin);
  }
}

// A browser lets nothing be copied where the page came without TLS, but on the machine itself.
if (navigator.clipboard) {
  for (const block of main.querySelectorAll("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.querySelector("code").textContent.trimEnd());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    const held = document.createElement("div");
    held.className = "typed";
    block.replaceWith(held);
    held.append(block, button);
  }
}
