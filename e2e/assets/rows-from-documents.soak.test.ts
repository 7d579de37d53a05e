import { expect } from 'vitest';
import { makePdf } from '../../server/src/modules/drafts/testing/make-documents.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const PAGES = [
  [
    'The bakery at the harbour opens at six in the morning, and closes at four.',
    'On Sundays it stays closed.',
    '',
    'The oven was built by Anna Becker in 1931. It is heated with beech wood.',
  ],
  ['Rye bread rests for two days before it is sold. A loaf weighs two pounds.', 'It costs four crowns.'],
];
const NOTES = '# Yeast\n\nThe yeast comes from the brewery next door, every Tuesday.';

journey(
  'the starter model generates rows from documents, which are edited and saved as a dataset',
  async ({ page, allowErrors }) => {
    await signUp(page);
    await page.goto('/dataset');
    await page.getByRole('link', { name: 'Generate from documents' }).click();
    await page.getByText('No drafts yet').waitFor();
    await look(page, 'drafts-empty');
    await page.getByRole('button', { name: 'New draft' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'New draft' }).waitFor();

    allowErrors(/400/);
    const text = (name: string, buffer: Buffer, mimeType = 'application/pdf') => ({ name, buffer, mimeType });
    await page
      .getByLabel('Choose files')
      .setInputFiles([
        text('handbook.pdf', makePdf(PAGES)),
        text('scan.pdf', makePdf([[], []])),
        text('yeast.md', Buffer.from(NOTES), 'text/markdown'),
      ]);
    await page
      .getByRole('alert')
      .filter({ hasText: 'scan.pdf has no text: its pages are pictures' })
      .waitFor();
    await page.getByText('yeast.md').waitFor();
    await page.getByText('2 pages, ').waitFor();
    await page.getByText(/^2 chunks, up to 6 rows\./).waitFor({ timeout: WORK_MS });
    await page.getByRole('button', { name: 'Prompt and chunks' }).click();
    await look(page, 'draft-open');

    await page.getByRole('button', { name: 'Write rows' }).click();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    // Generation continues after a reload.
    await page.reload();
    await page.getByText(/^\d+ rows? to review$/).waitFor({ timeout: WORK_MS });
    const rows = page.getByRole('table').getByRole('row');
    expect(await rows.count()).toBeGreaterThanOrEqual(2);
    await look(page, 'draft-rows');

    await rows.nth(1).getByRole('button').click();
    const dialog = page.getByRole('dialog', { name: 'Edit row' });
    // The model may choose any of the documents.
    const source = dialog.getByRole('group', { name: 'Text of the source' });
    expect(await source.textContent()).toMatch(/The bakery at the harbour opens|The yeast comes from/);
    await dialog.getByLabel('Question').fill('When does the bakery open?');
    await dialog.getByLabel('Answer').fill('At six in the morning.');
    await look(page, 'draft-row');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('table').getByText('At six in the morning.').waitFor();
    await rows.nth(1).getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Delete 1' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Save 1 as dataset' }).waitFor();
    await rows.nth(1).getByRole('checkbox').click();

    await page.getByRole('button', { name: 'Save as dataset' }).click();
    const save = page.getByRole('dialog', { name: 'Save as dataset' });
    expect(await save.getByLabel('Name').inputValue()).toBe('handbook');
    await look(page, 'draft-save');
    await save.getByRole('button', { name: /^Save \d/ }).click();
    await page.getByRole('button', { name: 'Open the dataset' }).click();
    await page.getByRole('heading', { level: 1, name: 'handbook' }).waitFor();
    await page.getByRole('tab', { name: 'Rows' }).click();
    await page.getByText('At six in the morning.').waitFor();
    await page
      .getByText(/^(handbook\.pdf, page|yeast\.md, Yeast)/)
      .first()
      .waitFor();
  },
);
