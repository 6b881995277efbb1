export const GERMAN = {};
export const NAMES = {};
