import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { revenueAccount, userAccount } from '../../server/src/modules/billing/ledger/accounts.ts';
import { transfer } from '../../server/src/modules/billing/ledger/transfer.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { getUserId } from '../billing/move-credits.ts';
import { choose } from '../choose.ts';
import { chooseFile, createDataset } from '../create-dataset.ts';
import { goToParameters } from '../go-to-parameters.ts';
import { journey, look, WORK_MS } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { signUp } from '../sign-up.ts';

const QUESTIONS = Array.from({ length: 20 }, (_, n) => `What is number ${n}?,It is the number ${n}.`);
const DATA = { name: 'numbers.csv', text: ['question,answer', ...QUESTIONS].join('\n') };

journey(
  'content that cannot load offline shows that, and loads once the network is back',
  async ({ page, allowErrors }) => {
    // The code of other parts may still be loading.
    allowErrors(/ERR_INTERNET_DISCONNECTED|Failed to fetch|could not be fetched/);
    await signUp(page);
    await page.goto('/dataset');
    await page.getByText('No datasets yet').waitFor();
    // The code of the list is loaded on the first input.
    await page.getByRole('combobox', { name: 'Sort by' }).click();
    await page.getByRole('listbox').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('listbox').waitFor({ state: 'hidden' });
    await page.context().setOffline(true);
    await page.getByText('The server cannot be reached').first().waitFor();
    // Use an order that is not cached.
    await choose(page, 'Sort by', 'Size');
    await page.getByText('Network offline and no cached data available').waitFor();
    await look(page, 'offline');
    await page.context().setOffline(false);
    await page.getByText('Trying again').waitFor({ state: 'hidden' });
    await page.getByText('No datasets yet').waitFor();
  },
);

journey(
  'failed uploads stay listed with the reason; a cancelled upload leaves nothing',
  async ({ page, allowErrors }) => {
    allowErrors(/400/);
    await signUp(page);
    await createDataset(page, { name: 'Uploads' });
    await page.getByRole('tab', { name: /Files/ }).click();
    await chooseFile(page, { name: 'nothing.csv', text: '' });
    await page.getByText('nothing.csv is empty').waitFor();
    const refusal = { status: 400, json: { detail: 'The disk is full' } };
    await page.route('**/upload', (route) => route.fulfill(refusal), { times: 1 });
    await chooseFile(page, { name: 'full.csv', text: 'question,answer\na,b\n' });
    await page.getByText('The disk is full').first().waitFor();
    await look(page, 'upload-failed');
    await page.getByRole('button', { name: 'Dismiss full.csv' }).click();
    await page.getByRole('button', { name: 'Dismiss full.csv' }).waitFor({ state: 'hidden' });

    // A file that cannot be used for training is reported as soon as it is selected.
    await chooseFile(page, { name: 'broken.csv', text: 'question,answer\na,b\nonly one field\n' });
    await page.getByText('1 row cannot be read. Line 3').waitFor();
    await look(page, 'upload-problems');

    await page.route('**/upload', () => undefined);
    await chooseFile(page, DATA);
    await page.getByRole('button', { name: 'Cancel numbers.csv' }).click();
    await page.getByText('Upload cancelled').waitFor();
    await page.getByRole('tab', { name: 'Files (1)' }).waitFor();
  },
);

journey(
  'the wizard rejects data that cannot be trained or paid for, and keeps its input',
  async ({ page }) => {
    await signUp(page);
    await createDataset(page, { name: 'Numbers', file: DATA });
    await page.getByRole('tab', { name: /Files/ }).click();
    await chooseFile(page, { name: 'silent.csv', text: 'question,answer\nWho speaks?,\nWho answers?,\n' });
    await page.getByRole('tab', { name: 'Files (2)' }).waitFor();
    await goToParameters(page, { name: 'Number Expert', file: 'silent.csv' });
    const next = page.getByRole('button', { name: 'Continue' });
    await next.click();
    await page.getByRole('alert').getByText('Validation Failed').waitFor();
    await look(page, 'wizard-critical-error');

    // Select another file. The credits are not enough for it.
    await spendAllCredit(page);
    await page.getByRole('button', { name: 'Back' }).click();
    await choose(page, 'File', 'numbers.csv');
    await next.click();
    // Each invalid number is reported at its field, and the field keeps what was typed.
    await page.getByLabel('Epochs').fill('999999');
    await next.click();
    await page.getByRole('dialog').getByText('Epochs must be at most 1000').waitFor();
    expect(await page.getByLabel('Epochs').inputValue()).toBe('999999');
    await page.getByLabel('Epochs').fill('2.5');
    await page.getByRole('dialog').getByText('Epochs must be a whole number').waitFor();
    await page.getByRole('button', { name: 'LoRA' }).click();
    for (const name of [
      'q_proj',
      'k_proj',
      'v_proj',
      'o_proj',
      'gate_proj',
      'up_proj',
      'down_proj',
      'lm_head',
    ]) {
      expect(await page.getByRole('checkbox', { name, exact: true }).count()).toBe(1);
    }
    await page.getByRole('group', { name: 'Target modules' }).waitFor();
    await look(page, 'wizard-numbers');
    await page.getByLabel('Epochs').fill('50');
    await next.click();
    await page.getByText('20 examples').waitFor();
    await page
      .getByRole('alert')
      .getByText(/Insufficient balance. Required: \$[\d.,]+\. Available: \$0\.00\d+\./)
      .waitFor();
    expect(await page.getByRole('button', { name: 'Start training' }).isDisabled()).toBe(true);
    await look(page, 'wizard-unaffordable');
    await page.getByRole('link', { name: 'Purchase Fine-tune Credits' }).click();
    await page.waitForURL('**/buy-bagels');
    await page.goBack();
    await page.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('Epochs').inputValue()).toBe('50');
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.goto('/llm-training');
    await page.getByText('No runs yet').waitFor();
  },
);

journey(
  'a cancelled run shows its cost, and its model shows that it was not made',
  { timeout: 2 * WORK_MS },
  async ({ page }) => {
    await signUp(page);
    await createDataset(page, { name: 'Numbers', file: DATA });
    await goToParameters(page, { name: 'Number Expert', file: DATA.name });
    await page.getByLabel('Epochs').fill('50');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Details' }).click({ timeout: WORK_MS });
    await page.getByLabel('Spending limit').fill('2');
    await page.getByRole('button', { name: 'Start training' }).click();
    await page.getByRole('link', { name: 'Manage Model' }).click();
    await page.getByRole('link', { name: 'Curves, parameters and cost' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('alertdialog').getByText('You pay for the time used so far').waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.getByText('The run was cancelled').waitFor({ timeout: WORK_MS });
    // The toast also shows the reason.
    const cost = /You were not charged\.|You were charged .+ for the time it took\./;
    await page.getByRole('main').getByText(cost).waitFor();
    await look(page, 'run-cancelled');

    // The page of the model that was never created says so, and the model can be deleted.
    await page.goto('/model');
    await page.getByText('Cancelled').waitFor();
    await look(page, 'models-cancelled');
    await page.getByRole('link', { name: 'Number Expert' }).click();
    await page.getByText('This model was not finished').waitFor();
    await look(page, 'model-cancelled');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Number Expert was deleted').waitFor();
  },
);

/** Charges the user nearly all of the starting credits. */
async function spendAllCredit(page: Page): Promise<void> {
  const userId = await getUserId(page);
  const db = connect(journeyServer().databaseUrl);
  try {
    await db.transaction().execute((tx) =>
      transfer(tx, {
        debitAccountId: userAccount(userId),
        creditAccountId: revenueAccount('deployment'),
        amountMicro: 124_999_900n,
        kind: 'charge',
        description: 'Deployment',
        idempotencyKey: null,
      }),
    );
  } finally {
    await db.destroy();
  }
}
