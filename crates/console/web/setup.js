// What the server tells the page of the installation.

export const setup = JSON.parse(document.querySelector("meta[name=duet]").content);

/** The dialect that these pages speak. */
export const own = setup.dialects.find((dialect) => dialect.letter === "B");
