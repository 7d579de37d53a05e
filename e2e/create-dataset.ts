import type { Page } from 'playwright-core';

type NewDataset = { name: string; file?: { name: string; text: string } };

/** Creates a dataset in the browser, with its file if there is one. Afterwards the page of the dataset is open. */
export async function createDataset(page: Page, { name, file }: NewDataset): Promise<void> {
  await page.goto('/dataset?sheet=create-dataset');
  const sheet = page.getByRole('dialog', { name: 'Create Dataset' });
  await sheet.getByLabel('Name').fill(name);
  if (file) await chooseFile(page, file);
  await sheet.getByRole('button', { name: 'Create', exact: true }).click();
  if (!file) await sheet.getByRole('link', { name: 'Manage Dataset' }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  if (file) await page.getByRole('tab', { name: 'Files (1)' }).waitFor();
}

/** Selects a file in the page's file input. */
export async function chooseFile(page: Page, { name, text }: { name: string; text: string }): Promise<void> {
  await page
    .getByLabel('Choose files')
    .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
}
