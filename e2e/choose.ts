import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { WORK_MS } from './journey.ts';

/** One click is not waited for longer: the list may have been closed meanwhile. */
const CLICK_MS = 2_000;

/**
 * Chooses an option of a select or a combobox by the first words of its label. A click is not
 * taken while a list is rendered again, and a dialog that moves the focus as it opens closes the
 * list: who sees that clicks once more.
 */
export async function choose(page: Page, field: string | Locator, option: string): Promise<void> {
  const control = typeof field === 'string' ? page.getByRole('combobox', { name: field }) : field;
  const list = page.getByRole('listbox');
  const wanted = list.getByRole('option').filter({ hasText: option }).first();
  await control.waitFor();
  await expect
    .poll(
      async () => {
        const isOpen = await list.isVisible();
        if (!isOpen && (await valueOf(control)).startsWith(option)) return 'chosen';
        if (!isOpen) await control.click({ timeout: CLICK_MS }).catch(() => undefined);
        await wanted.click({ timeout: CLICK_MS }).catch(() => undefined);
        return 'open';
      },
      { interval: 250, timeout: WORK_MS },
    )
    .toBe('chosen');
}

/** What the field shows: a select is a button with a text, a combobox an input without one. */
async function valueOf(control: Locator): Promise<string> {
  return (await control.textContent()) || control.inputValue();
}
