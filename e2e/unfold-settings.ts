import type { Page } from 'playwright-core';

/** Opens a generator's advanced settings, if they are collapsed. */
export async function unfoldSettings(page: Page): Promise<void> {
  const advanced = page.getByRole('button', { name: 'Advanced' });
  if ((await advanced.getAttribute('aria-expanded')) !== 'true') await advanced.click();
}
