import { expect } from 'vitest';
import { choose } from '../choose.ts';
import { createDataset } from '../create-dataset.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const DATA = { name: 'letters.csv', text: 'first,second,third\na,b,c\nd,e,f\ng,h,i\n' };
const VALIDATION = '**/api/v1/fine-tune/validate';

journey(
  'the one-screen fine-tune form asks for undetected columns, and shows obstacles',
  async ({ page, allowErrors }) => {
    allowErrors(/503/);
    await signUp(page);
    await createDataset(page, { name: 'Letters', file: DATA });
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(VALIDATION, async (route) => {
      await asked;
      await route.fulfill({
        status: 503,
        json: { error: { code: 'unavailable', message: 'The prices are being changed' } },
      });
    });
    await page.getByRole('button', { name: 'Fine-tune on this' }).click();
    const screen = page.getByRole('dialog', { name: 'Fine-tune' });
    await screen.getByText(/The columns were not recognized|The format was not recognized/).waitFor();
    const start = screen.getByRole('button', { name: 'Start', exact: true });
    expect(await start.isDisabled()).toBe(true);
    await look(page, 'fine-tune-columns');

    await choose(page, 'Input column', 'first');
    await choose(page, 'Output column', 'second');
    await look(page, 'fine-tune-loading');
    answer();
    await screen.getByText('The prices are being changed').waitFor();
    await look(page, 'fine-tune-no-price');
    await page.unroute(VALIDATION);
    await screen.getByRole('button', { name: 'Try again' }).click();
    await screen.getByText(/^3 examples, .+, never more than \$/).waitFor({ timeout: WORK_MS });
    await screen.getByText('Only 3 rows to learn from').waitFor();
    expect(await start.isDisabled()).toBe(false);
    await look(page, 'fine-tune-few-rows');
    await screen.getByRole('link', { name: 'Open the dataset' }).click();
    await screen.waitFor({ state: 'hidden' });
  },
);
