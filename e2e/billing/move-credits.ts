import type { Page } from 'playwright-core';
import { PAYMENTS_ACCOUNT, userAccount } from '../../server/src/modules/billing/ledger/accounts.ts';
import { transfer } from '../../server/src/modules/billing/ledger/transfer.ts';
import { connect } from '../../server/src/platform/db/database.ts';
import { journeyServer } from '../journey-server.ts';

type Transfer = Parameters<typeof transfer>[1];

/** Returns the id of the user who is signed in on the page. */
export async function getUserId(page: Page): Promise<string> {
  const session = (await (await page.request.get('/api/v1/session')).json()) as { user: { id: string } };
  return session.user.id;
}

/** Moves credits in the ledger of the worker's server. */
export async function moveCredits(...moves: Omit<Transfer, 'idempotencyKey'>[]): Promise<void> {
  const db = connect(journeyServer().databaseUrl);
  try {
    for (const move of moves)
      await db.transaction().execute((tx) => transfer(tx, { ...move, idempotencyKey: null }));
  } finally {
    await db.destroy();
  }
}

/** Gives the page's user credits that count as bought, so that they can be sent. */
export async function buyCredits(page: Page, amountMicro: bigint): Promise<void> {
  await moveCredits({
    debitAccountId: PAYMENTS_ACCOUNT,
    creditAccountId: userAccount(await getUserId(page)),
    amountMicro,
    kind: 'purchase',
    description: 'Purchase',
  });
}
