/**
 * Has the browser load its data for times and numbers, which it does at the first use of `Intl`: on a phone for longer than it
 * takes to render a page. Called while nothing else is to be done, it does not hold up the page that shows the first of them.
 */
export async function loadLocaleData(): Promise<void> {
  new Intl.DateTimeFormat().resolvedOptions();
}
