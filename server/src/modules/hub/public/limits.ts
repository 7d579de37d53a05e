/** Maximum number of files of a repository that are listed and cloned. */
export const FILES_MAX = 100_000;
