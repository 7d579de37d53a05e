import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { chooseFile, createDataset } from '../create-dataset.ts';
import { journey, look } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const ROWS = 240;

function facts(rows: number): string {
  const lines = Array.from({ length: rows }, (_, at) => {
    const answer = `"It is the ${at}th loaf, ${'baked '.repeat(at % 13)}by hand."`;
    return `What is number ${at}?,${answer},${at % 5 === 0 ? '' : ['rye', 'wheat', 'spelt'][at % 3]},${(at * 7) % 90}`;
  });
  return `question,answer,flour,minutes\n${lines.join('\n')}\n`;
}

journey(
  'a user views columns, rows and revisions of a dataset, and edits a file',
  async ({ page, allowErrors }) => {
    // An invalid query is rejected.
    allowErrors(/400/);
    await page.goto('/');
    await signUp(page);
    await createDataset(page, {
      name: 'Loaves',
      file: { name: 'loaves.csv', text: `${facts(10)}broken\n` },
    });
    await page.getByRole('tab', { name: 'Files (1)' }).click();
    await page.getByText(/1 row cannot be read\. Line 12: 1 field instead of 4\. Put values/).waitFor();
    await page.reload();
    await page.getByText(/1 row cannot be read\. Line 12/).waitFor();
    await look(page, 'viewer-problem');
    await replaceFile(page);
    await seeRows(page);
    await seeColumns(page);
    await filterRows(page);
    await seeColumns(page);
    await seeRevisions(page);
    await askInSql(page);
  },
);

async function replaceFile(page: Page): Promise<void> {
  await chooseFile(page, { name: 'loaves.csv', text: facts(ROWS) });
  await page.getByText('1 row cannot be read').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Rows' }).click();
}

async function seeRows(page: Page): Promise<void> {
  await page.getByText(`Rows 1 to 100 of ${ROWS}`).waitFor();
  const head = page.getByRole('columnheader', { name: 'flour' });
  await head.getByText('80% filled').waitFor();
  await head.getByText('3 values').waitFor();
  await page.getByRole('columnheader', { name: 'minutes' }).getByText('0 to 89').waitFor();
  await look(page, 'viewer-rows');
  await page.getByRole('button', { name: 'Show row 100', exact: true }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('What is number 99?').waitFor();
  // The next row is on the next page.
  await page.keyboard.press('ArrowDown');
  await sheet.getByText('What is number 100?').waitFor();
  await look(page, 'viewer-row');
  await page.keyboard.press('Escape');
  await page.getByText(`Rows 101 to 200 of ${ROWS}`).waitFor();
  const goTo = page.getByRole('textbox', { name: 'Go to row' });
  await goTo.fill('230');
  await goTo.press('Enter');
  await page.getByText(`Rows 201 to ${ROWS} of ${ROWS}`).waitFor();
}

async function seeColumns(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Columns', exact: true }).click();
  await page.getByText(`Based on all ${ROWS} rows.`).waitFor();
  await page.getByText('80% (192)').waitFor();
  await look(page, 'viewer-columns');
}

async function filterRows(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Rows', exact: true }).click();
  await page
    .getByRole('columnheader', { name: 'flour' })
    .getByRole('button', { name: 'Show rows with wheat: 64' })
    .click();
  await page.getByText(`64 rows found. All ${ROWS} rows were searched.`).waitFor();
  await page.getByRole('searchbox', { name: 'Search the rows' }).fill('NUMBER 7');
  await page.getByText(/^\d+ rows? found\./).waitFor();
  await look(page, 'viewer-filtered');
  await page.reload();
  await page.getByRole('button', { name: 'Remove the filter flour: wheat' }).click();
  await page.getByRole('searchbox', { name: 'Search the rows' }).fill('');
  await page.getByText(`of ${ROWS}`).waitFor();
}

async function askInSql(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'SQL' }).click();
  const editor = page.getByRole('textbox', { name: 'SQL query' });
  await editor.fill('SELECT flour, count(*) AS loaves FRM loaves GROUP BY flour');
  await editor.press('Control+Enter');
  await page.getByText('Parser Error').waitFor();
  await look(page, 'sql-error');
  await editor.fill('SELECT flour, count(*) AS loaves, avg(minutes) FROM loaves GROUP BY ALL ORDER BY flour');
  await page.getByRole('button', { name: 'Run' }).click();
  const result = page.getByRole('region', { name: 'Rows of the result' });
  await result.getByRole('cell', { name: 'wheat' }).waitFor();
  await look(page, 'sql-result');
  // The URL contains the query, so it survives a reload.
  await page.reload();
  await result.getByRole('cell', { name: 'wheat' }).waitFor();
  await page.getByRole('button', { name: 'Download' }).click();
  const saving = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe('result.csv');
  const csv = await text(await saved.createReadStream());
  expect(csv).toMatch(/^flour,loaves,/);
  expect(csv).toContain('wheat,64,');
}

async function seeRevisions(page: Page): Promise<void> {
  await choose(page, 'Version', 'Version 1');
  await page.getByText('This is an earlier version of the file.').waitFor();
  await page.getByText('Based on all 10 rows.').waitFor();
  expect(new URL(page.url()).searchParams.get('revision')).toBeTruthy();
  await page.getByRole('button', { name: 'Rows', exact: true }).click();
  await page.getByText('Line 12: 1 field instead of 4').waitFor();
  await look(page, 'viewer-revision');
}
