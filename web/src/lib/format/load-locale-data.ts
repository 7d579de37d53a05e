/**
 * Warms up the browser's `Intl` data, which on a phone takes longer than rendering a page. Call it while
 * idle, before the first page that needs it.
 */
export async function loadLocaleData(): Promise<void> {
  new Intl.DateTimeFormat().resolvedOptions();
}
