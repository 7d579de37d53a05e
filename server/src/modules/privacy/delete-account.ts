import type { InputOf } from '@bakehouse/contract/endpoint';
import { type Currency, displayAmount, formatBgl, placesFor } from '@bakehouse/contract/money';
import type { deleteAccount as endpoint } from '@bakehouse/contract/privacy';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { closeAccount } from '../accounts/deletion/close-account.ts';
import { confirmIdentity } from '../accounts/deletion/confirm-identity.ts';
import { lockTotals } from '../credits/lock-totals.ts';
import { hasOpenPayment } from '../credits/purchases/has-open-payment.ts';
import type { UserTotals } from '../credits/queries.ts';
import { sendableMicro } from '../credits/statement/sendable-micro.ts';
import { purgeDeletedJob } from './jobs/purge-deleted.ts';

/**
 * Deletes the caller's account: from the commit on nobody gets into it, and nothing says whose it was. A job ends what
 * runs and removes what was stored. `address` is where the call comes from. Throws AppError 'invalid_request' or 'forbidden' for a stranger, and 'conflict'
 * while something is owed or a payment is under way, or more credits that can be sent are left than were given up.
 */
export async function deleteAccount(
  ctx: Context,
  { body }: InputOf<typeof endpoint>,
  address: string,
): Promise<void> {
  const { userId } = ctx.caller;
  await confirmIdentity(ctx, { password: body.password, address });
  await inTransaction(ctx.db, async (tx) => {
    const now = ctx.clock.now();
    await refuseUnsettled(tx, { userId, now, giveUpMaxMicro: body.give_up_max });
    await closeAccount(tx, { userId, now, config: ctx.config });
    await ctx.jobs.enqueue(tx, purgeDeletedJob, {});
  });
  await ctx.rowChanges.catchUp();
}

/** What it looks at stays so until the account is closed: credits that come meanwhile come before or after. */
async function refuseUnsettled(
  tx: Transaction,
  { userId, now, giveUpMaxMicro }: { userId: string; now: Date; giveUpMaxMicro: bigint | undefined },
): Promise<void> {
  const totals = await lockTotals(tx, userId);
  if (totals.owed > 0n) {
    throw new AppError('conflict', {
      publicMessage: `You owe ${inWords(totals.owed)}. Buy credits first: what is owed is taken from them`,
    });
  }
  if (await hasOpenPayment(tx, { userId, now })) {
    throw new AppError('conflict', {
      publicMessage:
        'A payment is under way. Delete your account once it has arrived; a page on which nothing was paid closes within a day',
    });
  }
  if (totals.balance - totals.given > (giveUpMaxMicro ?? 0n)) {
    throw new AppError('conflict', {
      publicMessage: whatIsLeft(totals, giveUpMaxMicro),
      param: 'give_up_max',
    });
  }
}

/** What would be given up: what can be sent, and what work that runs holds of the rest. */
function whatIsLeft(totals: UserTotals, giveUpMaxMicro: bigint | undefined): string {
  const sendable = sendableMicro(totals);
  const held = totals.balance - totals.given - sendable;
  const show = giveUpMaxMicro ? (micro: bigint) => `${formatBgl(micro)} BGL` : inWords;
  const can = giveUpMaxMicro
    ? `You agreed to give up ${show(giveUpMaxMicro)}, and ${show(sendable)} can be sent now`
    : `${show(sendable)} can still be sent`;
  return held > 0n
    ? `${can}, while work that runs holds another ${show(held)}. Send what you can and end the work, or give it all up`
    : `${can}. Send it to someone, or give it up`;
}

function inWords(micro: bigint): string {
  const show = (currency: Currency) => displayAmount(micro, currency, placesFor(micro, currency));
  return `${show('BGL')} (${show('USD')})`;
}
