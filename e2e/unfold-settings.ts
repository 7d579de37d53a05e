import type { Page } from 'playwright-core';

/** Opens the settings of a generator's page that are folded away, if they are. */
export async function unfoldSettings(page: Page): Promise<void> {
  const advanced = page.getByRole('button', { name: 'Advanced' });
  if ((await advanced.getAttribute('aria-expanded')) !== 'true') await advanced.click();
}
