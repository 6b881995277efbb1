// The pages and the reports by what they are called, for whoever looks for one by its name.

import { closing, may, noun } from "./frame.js";
import { offered } from "./report.js";
import { GROUPS, RESOURCES, SETTINGS } from "./resources.js";
import { path } from "./route.js";
import { setup } from "./setup.js";
import { systemPages } from "./system.js";
import { label, t } from "./texts.js";

/** All that the navigation and the settings lead to. */
function pages() {
  const listed = [...GROUPS.flatMap(([, , segments]) => segments), ...SETTINGS.flatMap(([, segments]) => segments)];
  const ofMonth = may("lock.create") ? [[closing(), t("Close a month")]] : [];
  return [
    [path(), t("Home")],
    ...listed
      .filter((one) => may(`${noun(one)}.view`) || ["entries", "allocations"].includes(one))
      .map((one) => [path(one), label(RESOURCES[one].stem)]),
    ...ofMonth,
    [path("reports"), t("Reports")],
    [path("settings"), t("Settings")],
    [path("account"), t("Your account")],
    ...systemPages().map(([address, name]) => [path(address), name]),
    ...setup.pages.filter(([address]) => address !== "/").map(([address, name]) => [address, t(name)]),
  ];
}

const reports = async () => (may("report.view") ? (await offered()).map((one) => [path("reports", one.name), t(one.title)]) : []);

/** What has all the words in its name: a title, and what stands under it, each with its address. */
export async function placesCalled(words) {
  const wanted = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const isMeant = ([, name]) => wanted.length > 0 && wanted.every((word) => name.toLocaleLowerCase().includes(word));
  const all = [
    [t("Pages"), pages()],
    [t("Reports"), await reports().catch(() => [])],
  ];
  return all.map(([title, places]) => [title, places.filter(isMeant)]).filter(([, places]) => places.length > 0);
}
