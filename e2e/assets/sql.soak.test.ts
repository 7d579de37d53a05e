import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { createDataset } from '../create-dataset.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const LOAVES = 'name,minutes\nRye,50\nWheat,35\nSpelt,40\n';
const QUERY = 'SELECT name, minutes FROM loaves WHERE minutes > 35 ORDER BY minutes DESC';

journey('a dataset is queried with SQL, and the result is downloaded', async ({ page, allowErrors }) => {
  allowErrors(/status of 400/);
  await signUp(page);
  await createDataset(page, { name: 'Loaves', file: { name: 'loaves.csv', text: LOAVES } });
  await page.getByRole('tab', { name: 'SQL' }).click();
  const editor = page.getByRole('textbox', { name: 'SQL query' });
  const run = page.getByRole('button', { name: 'Run' });

  await editor.fill("SELECT * FROM read_text('/etc/passwd')");
  await run.click();
  await page.getByText('The query failed').waitFor();
  await look(page, 'sql-failed');

  await editor.fill(QUERY);
  await run.click();
  await page.getByText('Rows 1 to 2').waitFor();
  const rows = page.getByRole('region', { name: 'Rows of the result' });
  expect(await rows.locator('tbody tr').allInnerTexts()).toEqual([
    expect.stringMatching(/Rye\s+50/),
    expect.stringMatching(/Spelt\s+40/),
  ]);
  await look(page, 'sql-result');
  expect((await download(page, 'CSV')).toString()).toBe('name,minutes\nRye,50\nSpelt,40\n');
  const parquet = await download(page, 'Parquet');
  expect(parquet.subarray(0, 4).toString()).toBe('PAR1');

  // The URL contains the query, so it survives a reload.
  await page.reload();
  await page.getByText('Rows 1 to 2').waitFor();
  expect(await editor.inputValue()).toBe(QUERY);
});

async function download(page: Page, format: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: format }).click();
  return buffer(await (await coming).createReadStream());
}
