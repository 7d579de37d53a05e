import { text as textOf } from 'node:stream/consumers';
import { expect } from 'vitest';
import { createDataset } from '../create-dataset.ts';
import { journey } from '../journey.ts';
import { signUp } from '../sign-up.ts';

journey('the browser downloads a file under its name', async ({ page }) => {
  await signUp(page);
  const text = 'question,answer\nWhat is a Brötchen?,A roll\n';
  await createDataset(page, { name: 'Rolls', file: { name: 'Brötchen & more.csv', text } });
  await page.getByRole('tab', { name: 'Files (1)' }).click();
  await page.getByRole('button', { name: 'Actions for Brötchen & more.csv' }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Download' }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toBe('Brötchen & more.csv');
  expect(await textOf(await download.createReadStream())).toBe(text);
});
