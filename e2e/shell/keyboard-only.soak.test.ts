import type { Locator, Page } from 'playwright-core';
import { journey, WORK_MS } from '../journey.ts';

/** More tab stops than any page has. */
const STEPS_MAX = 120;
const ROWS = Array.from({ length: 40 }, (_, n) => `What is number ${n}?,It is the number ${n}.`);
const DATA = {
  name: 'numbers.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(['question,answer', ...ROWS].join('\n')),
};

/** Presses Tab until the target has the focus, as a user without a mouse would. */
async function stepTo(target: Locator): Promise<void> {
  for (let step = 0; step < STEPS_MAX; step += 1) {
    // Ignore errors: the target may disappear for a moment while a page loads.
    await target.waitFor();
    if (await hasFocus(target)) return;
    await target.page().keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(target)}`);
}

async function hasFocus(target: Locator): Promise<boolean> {
  return (await target.and(target.page().locator(':focus')).count()) > 0;
}

async function pressOn(target: Locator): Promise<void> {
  await stepTo(target);
  await target.page().keyboard.press('Enter');
}

journey('from sign-up to a finished run without a mouse', { timeout: 2 * WORK_MS }, async ({ page }) => {
  await signUpByKeyboard(page);
  await createDatasetByKeyboard(page);
  await startRunByKeyboard(page);
  await page
    .getByText(/Queued|Starting|Running/)
    .first()
    .waitFor();
  await pressOn(page.getByRole('main').getByRole('button', { name: 'Cancel' }));
  await pressOn(page.getByRole('alertdialog').getByRole('button', { name: 'Cancel run' }));
  await page.getByText('Cancelled', { exact: true }).first().waitFor({ timeout: WORK_MS });
});

async function signUpByKeyboard(page: Page): Promise<void> {
  await page.goto('/');
  await pressOn(page.getByRole('link', { name: 'Create an account' }));
  await stepTo(page.getByLabel('Username'));
  await page.keyboard.type('grace-of-the-keys');
  await page.keyboard.press('Tab');
  await page.keyboard.type('grace@example.com');
  await stepTo(page.getByLabel('Password'));
  await page.keyboard.type('a long password');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/dashboard');
}

async function createDatasetByKeyboard(page: Page): Promise<void> {
  await pressOn(page.getByRole('banner').getByRole('button', { name: 'Create' }));
  const item = page.getByRole('menuitem', { name: 'Create Dataset' });
  await item.waitFor();
  while (!(await hasFocus(item))) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
  await stepTo(sheet.getByLabel('Name'));
  await page.keyboard.type('Numbers');
  await pressOn(sheet.getByRole('button', { name: 'More' }));
  await pressOn(sheet.getByRole('combobox', { name: 'Category' }));
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor({ state: 'hidden' });
  await pressOn(sheet.getByRole('button', { name: 'Create', exact: true }));
  await pressOn(sheet.getByRole('link', { name: 'Manage Dataset' }));
  await page.getByRole('heading', { level: 1, name: 'Numbers' }).waitFor();
  // The system's file dialog cannot be operated here.
  const chooser = page.waitForEvent('filechooser');
  await pressOn(page.getByRole('button', { name: 'Choose files' }));
  await (await chooser).setFiles(DATA);
  await page.getByRole('tab', { name: 'Files (1)' }).waitFor();
}

/** Goes from the form on one screen, which is already filled in, to the page of the run. */
async function startRunByKeyboard(page: Page): Promise<void> {
  await pressOn(page.getByRole('button', { name: 'Fine-tune on this' }));
  const sheet = page.getByRole('dialog', { name: 'Fine-tune' });
  await sheet.getByText(/^40 examples, .+ on this CPU, about \$/).waitFor({ timeout: WORK_MS });
  await stepTo(sheet.getByLabel('Model name'));
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Number Expert');
  await pressOn(sheet.getByRole('button', { name: 'Start', exact: true }));
  await sheet.getByText('Your model is fine-tuning!').waitFor({ timeout: WORK_MS });
  await pressOn(sheet.getByRole('link', { name: 'Manage Model' }));
  await page.getByRole('heading', { level: 1, name: 'Number Expert' }).waitFor();
  await pressOn(page.getByRole('link', { name: 'Curves, parameters and cost' }));
  await page.waitForURL('**/runs/*');
}
