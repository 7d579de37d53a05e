import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { displayAmount, formatBgl, parseUsdCents } from '@bakehouse/contract/money';
import type { startPurchase as contract } from '@bakehouse/contract/purchases';
import type { Context } from '../../../platform/context.ts';
import { idempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findEmail } from '../../accounts/steps.ts';
import { lockUserAccounts } from '../lock-user-accounts.ts';
import type { PaymentProvider } from './payment-provider.ts';
import { MICRO_PER_CENT } from './plan-purchase.ts';
import { purchaseEnded } from './purchase-ended.ts';
import { findPurchase, insertPurchase, setSession } from './purchase-queries.ts';

/** Stripe stores idempotency keys for at least 24 hours. */
const PAGE_KNOWN_MS = 23 * 3_600_000;

/**
 * Opens the payment provider's page for a purchase of the caller. Credits nothing before the provider reports
 * the payment. Throws AppError 'conflict' if this server sells no credits or a repeated call's purchase has
 * ended, and 'unavailable' if the provider does not answer.
 */
export async function startPurchase(
  ctx: Context,
  provider: PaymentProvider | null,
  input: InputOf<typeof contract>['body'],
): Promise<ResponseOf<typeof contract>> {
  if (provider === null) {
    throw new AppError('conflict', {
      publicMessage: 'This server has no payment provider, so credits cannot be bought here',
    });
  }
  const { userId } = ctx.caller;
  const usdCents = parseUsdCents(input.usd);
  const amountMicro = BigInt(usdCents) * MICRO_PER_CENT;
  const call = { userId, key: ctx.idempotencyKey, operation: 'start-purchase', input };
  const { purchase_id } = await inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      // Account deletion takes the same lock: it sees the purchase, or the purchase sees the deleted account.
      await lockUserAccounts(tx, [userId]);
      const purchaseId = await insertPurchase(tx, { userId, usdCents, amountMicro });
      const detail = { purchase_id: purchaseId, amount: formatBgl(amountMicro) };
      await recordAudit(tx, { userId, action: 'purchase.started', detail });
      return { purchase_id: purchaseId };
    }),
  );
  return { purchase_id, checkout_url: await openPage(ctx, provider, purchase_id) };
}

/** Returns the only page of a purchase that can still be paid. */
async function openPage(ctx: Context, provider: PaymentProvider, purchaseId: string): Promise<string> {
  const purchase = await findPurchase(ctx.db, purchaseId);
  if (purchase?.status !== 'open' || purchase.account_deleted) throw purchaseEnded();
  if (purchase.session_id !== null) {
    const url = await provider.findCheckoutUrl(purchase.session_id);
    if (url === null) throw purchaseEnded();
    return url;
  }
  // A process may have died after opening a page, and the provider has forgotten the key by now.
  if (ctx.clock.now().getTime() - purchase.created_at.getTime() > PAGE_KNOWN_MS) throw purchaseEnded();
  const page = new URL('/buy-bagels', ctx.config.publicUrl);
  const { sessionId, url } = await provider.openCheckout({
    purchaseId,
    usdCents: purchase.usd_cents,
    description: `${displayAmount(purchase.amount_micro, 'BGL')} of credits`,
    email: await findEmail(ctx.db, purchase.user_id),
    successUrl: `${page.href}?purchase=${purchaseId}`,
    cancelUrl: page.href,
  });
  await setSession(ctx.db, purchaseId, sessionId);
  return url;
}
