import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createDataset } from '../create-dataset.ts';
import { journey, soakJourney, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('sheets and dialogs work with the keyboard and restore the focus', async ({ page }) => {
  await signUp(page);
  await page.goto('/dataset');
  const opener = page.getByRole('main').getByRole('button', { name: 'Create Dataset' }).first();
  await opener.focus();
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
  await sheet.waitFor();
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'hidden' });
  await expectFocus(page, 'button "Create Dataset"');

  // The first invalid field gets the focus, and Escape does not discard the input.
  await page.keyboard.press('Enter');
  await sheet.getByLabel('Name').focus();
  await page.keyboard.press('Enter');
  await sheet.getByText('Name is required').waitFor();
  await page.keyboard.type('Letters');
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard what you entered?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
  expect(await sheet.getByLabel('Name').inputValue()).toBe('Letters');

  await sheet.getByRole('button', { name: 'More' }).focus();
  await page.keyboard.press('Enter');
  await sheet.getByRole('combobox', { name: 'Category' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor({ state: 'hidden' });
  await page.keyboard.press('Tab');
  await page.keyboard.type('alphabet');
  await page.keyboard.press('Enter');
  await sheet.getByRole('button', { name: 'Remove the tag alphabet' }).waitFor();
  await page.keyboard.press('Enter');
  await sheet.getByText('Your Dataset is Ready!').waitFor();
});

soakJourney('the wizard works without a mouse', async ({ page }) => {
  await signUp(page);
  await createDataset(page, {
    name: 'Letters',
    file: { name: 'letters.csv', text: 'question,answer\na,b\nc,d\n' },
  });
  await page.getByRole('button', { name: 'Fine-tune on this' }).focus();
  await page.keyboard.press('Enter');
  const screen = page.getByRole('dialog', { name: 'Fine-tune' });
  await expect.poll(() => screen.getByLabel('Model name').inputValue()).toBe('Letters model');
  await screen.getByRole('button', { name: 'All settings' }).focus();
  await page.keyboard.press('Enter');
  const sheet = page.getByRole('dialog', { name: 'Create Model' });
  await sheet.waitFor();
  // From a dataset, the wizard opens after the step for the type. Back leads to that step.
  const types = sheet.getByRole('radio');
  while ((await types.count()) === 0) {
    await sheet.getByRole('button', { name: 'Back' }).focus();
    await page.keyboard.press('Enter');
  }
  await sheet.getByRole('radio', { name: /^Fine-tune a model(?! from)/ }).focus();
  await page.keyboard.press('Enter');

  // The new step gets the focus, so Tab reaches its first field.
  await sheet.getByLabel('Model name').waitFor();
  await page.keyboard.press('Tab');
  await expectFocus(page, 'textbox "Model name"');
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Abc');
  await page.keyboard.press('Enter');
  await sheet.getByText('Model name must have at least 4 characters').waitFor();
  await expectFocus(page, 'textbox "Model name"');
  await page.keyboard.type('d');
  await page.keyboard.press('Enter');

  // The only model is selected already. Clear it and select it again.
  const base = sheet.getByRole('combobox', { name: 'Base model' });
  await expect.poll(() => base.inputValue(), { timeout: WORK_MS }).toContain('SmolLM2');
  await base.focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Delete');
  await page.keyboard.press('ArrowDown');
  await page.getByRole('option', { name: /SmolLM2/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('listbox').waitFor({ state: 'hidden' });
  expect(await base.inputValue()).toContain('SmolLM2');

  // Escape closes only what is on top.
  await sheet.getByRole('button', { name: 'Choose Config' }).focus();
  await page.keyboard.press('Enter');
  const templates = page.getByRole('dialog', { name: 'Configuration Templates' });
  await templates.getByText('No templates yet').waitFor();
  await page.keyboard.press('Escape');
  await templates.waitFor({ state: 'hidden' });
  await expectFocus(page, 'button "Choose Config"');
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard what you entered?' }).waitFor();
  await page.getByRole('button', { name: 'Discard' }).focus();
  await page.keyboard.press('Enter');
  await sheet.waitFor({ state: 'hidden' });
  await expectFocus(page, 'button "Fine-tune on this"');
});

/** Waits until the focused element matches an accessible name, such as `button "Create"`. */
async function expectFocus(page: Page, element: string): Promise<void> {
  await expect.poll(() => page.locator(':focus').ariaSnapshot()).toContain(element);
}
