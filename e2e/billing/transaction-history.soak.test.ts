import { json } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { revenueAccount, userAccount } from '../../server/src/modules/billing/ledger/accounts.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { choose } from '../choose.ts';
import { journey, look } from '../journey.ts';
import { journeyServer } from '../journey-server.ts';
import { signUp } from '../sign-up.ts';
import { getUserId, moveCredits } from './move-credits.ts';

/** Inserts charges as in typical usage. */
async function spend(page: Page): Promise<void> {
  const debitAccountId = userAccount(await getUserId(page));
  const serving = {
    debitAccountId,
    creditAccountId: revenueAccount('deployment'),
    kind: 'charge',
    description: 'Serving Crumb',
    references: { asset_name: 'Crumb', pod_id: 'pod-1' },
  } as const;
  await moveCredits(
    { ...serving, amountMicro: 2_500_000n },
    {
      debitAccountId,
      creditAccountId: revenueAccount('fine_tuning'),
      amountMicro: 5_000_000n,
      kind: 'charge',
      description: 'Fine-tune of Crumb',
      references: { asset_name: 'Crumb', run_id: 'run-1' },
    },
    { ...serving, amountMicro: 10_000_000n },
  );
}

journey(
  'the history opens as a sheet over any page, in the display currency, and links to the work',
  async ({ page }) => {
    await signUp(page);
    await spend(page);
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('button', { name: 'Transaction History' })
      .click();
    const sheet = page.getByRole('dialog', { name: 'Transaction History' });
    const totals = sheet.getByLabel('Totals of the period');
    await totals.getByText('$0.20').waitFor();
    await totals.getByText('$0.50').waitFor();
    await sheet.getByText('2 charges').waitFor();
    await look(page, 'history-sheet');
    await sheet.getByRole('button', { name: 'Charges' }).click();
    expect(await sheet.getByRole('list', { name: 'Charges of Crumb' }).getByRole('listitem').count()).toBe(2);
    expect(await sheet.getByRole('link', { name: 'Fine-tune of Crumb' }).getAttribute('href')).toBe(
      '/runs/run-1',
    );

    // Future dates are rejected, also typed ones, and so is a start after the end.
    await sheet.getByLabel('From').fill('2099-01-01');
    await sheet.getByText('Choose today or an earlier day').waitFor();
    await sheet.getByLabel('From').fill('2020-01-02');
    await sheet.getByLabel('To', { exact: true }).fill('2020-01-01');
    await sheet.getByText('The first day cannot be after the last').waitFor();
    await sheet.getByLabel('To', { exact: true }).fill('2020-01-03');
    await sheet.getByText('No transactions found').waitFor();
    await look(page, 'history-sheet-empty');
    await sheet.getByRole('button', { name: 'Show all', exact: true }).click();

    const download = page.waitForEvent('download');
    await sheet.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'JSON' }).click();
    const file = (await json(await (await download).createReadStream())) as {
      transactions: { amount: string; balance: string }[];
    };
    expect(file.transactions.map(({ amount, balance }) => [amount, balance])).toEqual([
      ['-10', '107.5'],
      ['-5', '117.5'],
      ['-2.5', '122.5'],
      ['125', '125'],
    ]);

    await sheet.getByRole('link', { name: 'Open as page' }).click();
    await page.waitForURL('**/transactions');
    await page.getByRole('button', { name: 'BGL' }).first().click();
    await page.getByLabel('Totals of the period').getByText('12.50 BGL').waitFor();
    await look(page, 'history-page');
  },
);

journey(
  'the history is filtered by API key in the sheet, and stays filtered on the page',
  async ({ page }) => {
    await signUp(page);
    const userId = await getUserId(page);
    await page.goto('/api-key');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Nightly');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const charge = {
      debitAccountId: userAccount(userId),
      creditAccountId: revenueAccount('fine_tuning'),
      kind: 'charge',
    } as const;
    const references = { key_id: await keyIdOf(userId, 'Nightly') };
    await moveCredits(
      { ...charge, amountMicro: 2_500_000n, description: 'By hand' },
      { ...charge, amountMicro: 5_000_000n, description: 'By night', references },
    );

    await page.goto('/dashboard?sheet=transaction-history');
    const sheet = page.getByRole('dialog', { name: 'Transaction History' });
    await sheet.getByText('By hand').waitFor();
    await choose(page, sheet.getByLabel('API key'), 'Nightly');
    await sheet.getByText('By hand').waitFor({ state: 'detached' });
    await sheet.getByText('By night').waitFor();
    await sheet.getByLabel('Totals of the period').getByText('$0.20').waitFor();
    await look(page, 'history-sheet-key');
    await sheet.getByRole('link', { name: 'Open as page' }).click();
    await page.waitForURL(/\/transactions\?key=/);
    await sheet.waitFor({ state: 'detached' });
    await page.getByText('By night').waitFor();
    expect(await page.getByText('By hand').count()).toBe(0);
    await look(page, 'transactions-key');
    await choose(page, 'API key', 'All');
    await page.getByText('By hand').waitFor();
  },
);

async function keyIdOf(userId: string, name: string): Promise<string> {
  const db = connect(journeyServer().databaseUrl);
  try {
    const { id } = await db
      .selectFrom('api_keys')
      .select('id')
      .where('user_id', '=', userId)
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return id;
  } finally {
    await db.destroy();
  }
}
