import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { type Currency, displayAmount, formatBgl, placesFor } from '@bakehouse/contract/money';
import type {
  deleteAccount as deleteAccountEndpoint,
  previewDeletion as previewDeletionEndpoint,
} from '@bakehouse/contract/privacy';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { conflict, messageWithAmounts } from '../../platform/errors.ts';
import { closeAccount, confirmIdentity } from '../accounts/deletion/close-account.ts';
import { hasPassword } from '../accounts/steps.ts';
import { countOwnAssets } from '../assets/own/count-own-assets.ts';
import type { UserTotals } from '../billing/queries.ts';
import { sendableMicro } from '../billing/statement/balance.ts';
import { getTotals, hasOpenPayment, lockTotals } from '../billing/steps.ts';
import { listLivePodIds } from '../deployments/kinds/list-live-pod-ids.ts';
import { listLiveRuns } from '../fine-tuning/runs/runs.ts';
import { purgeDeletedJob } from './purge-user.ts';

/**
 * Deletes the caller's account. On commit, the account is closed and anonymous; later, a job ends its work
 * and purges its data. `address` is the IP address of the client. Throws AppError 'invalid_request' or
 * 'forbidden' if the user's identity is not confirmed, and 'conflict' for debts, a pending payment, or more
 * credits than `give_up_max`.
 */
export async function deleteAccount(
  ctx: Context,
  { body }: InputOf<typeof deleteAccountEndpoint>,
  address: string,
): Promise<void> {
  const { userId } = ctx.caller;
  await confirmIdentity(ctx, { password: body.password, address });
  await inTransaction(ctx.db, async (tx) => {
    const now = ctx.clock.now();
    await assertSettled(tx, { userId, now, giveUpMaxMicro: body.give_up_max });
    await closeAccount(tx, { userId, now, config: ctx.config });
    await ctx.jobs.enqueue(tx, purgeDeletedJob, {});
  });
  await ctx.rowChanges.catchUp();
}

/**
 * Throws AppError 'conflict' if the user has debts, pending payments, or more credits than they agreed to
 * forfeit. Locks the totals until the account is closed.
 */
async function assertSettled(
  tx: Transaction,
  { userId, now, giveUpMaxMicro }: { userId: string; now: Date; giveUpMaxMicro: bigint | undefined },
): Promise<void> {
  const totals = await lockTotals(tx, userId);
  if (totals.owed > 0n) {
    throw conflict(`You owe ${inWords(totals.owed)}. Get credits first to pay it`);
  }
  if (await hasOpenPayment(tx, { userId, now })) {
    throw conflict(
      'A payment is pending. Delete your account once it has arrived; unpaid checkouts expire within a day',
    );
  }
  if (totals.balance - totals.given > (giveUpMaxMicro ?? 0n)) {
    const { publicMessage, data } = whatIsLeft(totals, giveUpMaxMicro);
    throw conflict(publicMessage, { data, param: 'give_up_max' });
  }
}

/**
 * Returns the message about the credits that the user would lose: transferable credits, and credits held by
 * running work.
 */
function whatIsLeft(totals: UserTotals, giveUpMaxMicro: bigint | undefined) {
  const sendable = sendableMicro(totals);
  const held = totals.balance - totals.given - sendable;
  const can = giveUpMaxMicro
    ? 'You agreed to forfeit {agreed}, but {sendable} can be transferred now'
    : '{sendable} can still be transferred';
  const template =
    held > 0n
      ? `${can}, and running work holds another {held}. Transfer what you can and stop the work, or forfeit everything`
      : `${can}. Transfer it to someone, or forfeit it`;
  return messageWithAmounts(template, {
    agreed: formatBgl(giveUpMaxMicro ?? 0n),
    sendable: formatBgl(sendable),
    held: formatBgl(held),
  });
}

function inWords(micro: bigint): string {
  const show = (currency: Currency) => displayAmount(micro, currency, placesFor(micro, currency));
  return `${show('BGL')} (${show('USD')})`;
}

/** Returns what deleting the caller's account would delete. */
export async function previewDeletion({
  db,
  caller,
}: Context): Promise<ResponseOf<typeof previewDeletionEndpoint>> {
  const { userId } = caller;
  const [assets, runs, pods, totals, asksPassword] = await Promise.all([
    countOwnAssets(db, userId),
    listLiveRuns(db, userId),
    listLivePodIds(db, userId),
    getTotals(db, userId),
    hasPassword(db, userId),
  ]);
  return {
    ...assets,
    running: runs.length + pods.length,
    bought: formatBgl(totals.balance - totals.given),
    given: formatBgl(totals.given),
    owed: formatBgl(totals.owed),
    asks_password: asksPassword,
  };
}
