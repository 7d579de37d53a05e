import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const LINES = Array.from({ length: 20 }, (_, n) =>
  JSON.stringify({
    messages: [
      { role: 'system', content: 'You are the baker of a small shop and answer in one sentence.' },
      { role: 'user', content: `What does loaf ${n} cost?` },
      { role: 'assistant', content: `Loaf ${n} costs ${n + 2} crowns.` },
      { role: 'user', content: 'And two of them?' },
      { role: 'assistant', content: `Two of them cost ${2 * (n + 2)} crowns.` },
    ],
  }),
);
const DATA = { name: 'conversations.jsonl', text: LINES.join('\n') };

journey('conversations are shown, detected and read without choosing columns', async ({ page }) => {
  await signUp(page);
  await createDataset(page, { name: 'Shop talk', file: DATA });
  await page.getByRole('tab', { name: 'Rows' }).click();
  await page.getByText('What does loaf 7 cost?').waitFor();
  await look(page, 'chat-data-preview');

  await page.getByRole('button', { name: 'Fine-tune on this' }).click();
  const next = page.getByRole('button', { name: 'Continue' });
  await page.getByText(/^20 examples, /).waitFor({ timeout: WORK_MS });
  await page.getByRole('button', { name: 'All settings' }).click();
  await page.getByRole('combobox', { name: 'Data format' }).getByText('Messages').waitFor();
  await look(page, 'chat-data-format');
  await next.click();
  await page.getByRole('button', { name: 'Details' }).click({ timeout: WORK_MS });
  const review = page.getByRole('dialog');
  await review.getByText('20 of 20').waitFor();
  await review.getByText('How the model sees the first examples').click();
  await review.getByText('Two of them cost 4 crowns.').first().waitFor();
  await review.getByText('Two of them cost 4 crowns.').first().scrollIntoViewIfNeeded();
  await look(page, 'chat-data-review');
});
