import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { WORK_MS } from './journey.ts';

/** Time after which the selection is retried, because the list may have closed. */
const CLICK_MS = 2_000;

/**
 * Selects an option of a select or combobox by the first words of its label. Retries for two reasons: a click
 * is lost if the list renders again, and a dialog that moves the focus while it opens closes the list.
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

/** Returns the text of the field. A select is a button with text, a combobox is an input. */
async function valueOf(control: Locator): Promise<string> {
  return (await control.textContent()) || control.inputValue();
}
