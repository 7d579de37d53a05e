import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Rules of a whole page, which a popup with the page behind it does not have to keep. */
const OF_A_PAGE = ['landmark-one-main', 'page-has-heading-one', 'region'];

export type Theme = 'light' | 'dark';

/**
 * Puts the page in a theme and resolves to what axe finds there, a line for each violation. In the
 * dark theme only contrast is examined: the colors alone are others.
 */
export async function findViolations(
  page: Page,
  theme: Theme,
  { popup = false, loading = false }: { popup?: boolean; loading?: boolean } = {},
): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await page.locator(`html[data-theme=${theme}]`).waitFor();
  // What lies behind an open sheet or popup cannot be used, and is looked at without it.
  const axe = new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .exclude('[data-base-ui-inert]');
  if (theme === 'dark') axe.withRules(['color-contrast']);
  else if (popup) axe.disableRules(OF_A_PAGE);
  // The title may be what is being read.
  else if (loading) axe.disableRules(['page-has-heading-one']);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}
