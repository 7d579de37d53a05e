const texts = /dynamically imported module|Importing a module script failed|Unable to preload CSS/;

/** Returns true if code or styles could not be loaded; each browser words this differently. */
export function isLoadError(error: unknown): boolean {
  return error instanceof Error && texts.test(error.message);
}
