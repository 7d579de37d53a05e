/** Files of one repository that are listed and cloned at most. */
export const FILES_MAX = 100_000;
