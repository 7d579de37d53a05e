import type { AuditAction } from '@bakehouse/contract/audit';
import { displayAmount, formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { listOperators } from '../../accounts/steps.ts';
import { notify } from '../../notifications/notifications.ts';
import { PAYMENTS_ACCOUNT, userAccount } from '../ledger/accounts.ts';
import { chargeBack } from '../ledger/given-credits.ts';
import { transfer } from '../ledger/transfer.ts';
import { writeOffDebt } from '../ledger/write-off-debt.ts';
import type { Payment, PaymentProvider } from './payment-provider.ts';
import { changePurchase, findPurchase, type PurchaseRow } from './purchase-queries.ts';
import { MICRO_PER_CENT, type PurchaseStep, planPurchase } from './purchases.ts';

/** Maximum steps per call. No purchase needs more. */
const ROUNDS_MAX = 10;

/**
 * Brings the ledger in line with the provider's state of a purchase. May be called repeatedly, in any order
 * and concurrently: each step is made only once, and outdated states are ignored.
 */
export async function syncPurchase(
  services: Pick<Services, 'db' | 'log' | 'clock' | 'config'>,
  provider: PaymentProvider,
  purchaseId: string,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const purchase = await findPurchase(services.db, purchaseId);
    if (!purchase?.session_id) return;
    const payment = await provider.fetchPayment(purchase.session_id);
    const step = planPurchase(purchase, payment);
    if (step === null) return;
    if (step.kind === 'refuse')
      services.log.error({ purchaseId, reason: step.reason }, 'payment does not match its purchase');
    const now = services.clock.now();
    await inTransaction(services.db, async (tx) => {
      if (!(await changePurchase(tx, purchase, changeOf(purchase, { step, payment, now })))) return;
      await recordStep(tx, purchase, step);
      if (step.kind === 'refuse') await notifyOperators(tx, services, step.reason);
      else await makeStep(tx, purchase, step);
    });
  }
  throw new Error(`Purchase ${purchaseId} did not settle after ${ROUNDS_MAX} steps`);
}

type Step = NonNullable<PurchaseStep>;

/** Records a step in the audit log, in the step's transaction. */
async function recordStep(tx: Transaction, { id, user_id: userId }: PurchaseRow, step: Step): Promise<void> {
  const record = (action: AuditAction, detail: Record<string, string>) =>
    recordAudit(tx, { userId, action, detail: { purchase_id: id, ...detail } });
  switch (step.kind) {
    case 'refuse':
      return record('purchase.refused', { reason: step.reason });
    case 'close':
      return record('purchase.closed', { status: step.status });
    default:
      return record(actions[step.kind], { amount: formatBgl(BigInt(step.cents) * MICRO_PER_CENT) });
  }
}

const actions = {
  credit: 'credits.bought',
  reverse: 'credits.reversed',
  reinstate: 'credits.reinstated',
} as const;

async function notifyOperators(
  tx: Transaction,
  { config }: Pick<Services, 'config'>,
  reason: string,
): Promise<void> {
  const operators = await listOperators(tx, config);
  await notify(
    tx,
    ...operators.map((userId) => ({ userId, kind: 'payment_refused' as const, data: { reason } })),
  );
}

/** Moves a step's credits, in the transaction that records the step. */
async function makeStep(
  tx: Transaction,
  purchase: PurchaseRow,
  step: Exclude<Step, { kind: 'refuse' }>,
): Promise<void> {
  const { id, user_id: userId, version } = purchase;
  const idempotencyKey = `purchase:${id}:${version}`;
  const dollars = (cents: number) => displayAmount(BigInt(cents) * MICRO_PER_CENT, 'USD');
  switch (step.kind) {
    case 'credit':
    case 'reinstate': {
      const amountMicro = BigInt(step.cents) * MICRO_PER_CENT;
      if (step.kind === 'credit')
        await notify(tx, { userId, kind: 'credits_bought', data: { amount_micro: String(amountMicro) } });
      await transfer(tx, {
        debitAccountId: PAYMENTS_ACCOUNT,
        creditAccountId: userAccount(userId),
        amountMicro,
        kind: 'purchase',
        description:
          step.kind === 'credit'
            ? `Purchase for ${dollars(step.cents)}`
            : `Payment of ${dollars(step.cents)} reinstated`,
        references: { purchase_id: id },
        idempotencyKey,
      });
      break;
    }
    case 'reverse':
      await chargeBack(tx, {
        userId,
        amountMicro: BigInt(step.cents) * MICRO_PER_CENT,
        description: `Refund or dispute of ${dollars(step.cents)}`,
        references: { purchase_id: id },
        idempotencyKey,
      });
      if (purchase.account_deleted) await writeOffDebt(tx, userId);
      break;
    case 'close':
      break;
  }
}

function changeOf(
  purchase: PurchaseRow,
  { step, payment, now }: { step: Step; payment: Payment; now: Date },
) {
  const taken = purchase.reversed_cents;
  switch (step.kind) {
    case 'credit':
      return {
        status: 'paid',
        paid_at: now,
        receipt_url: payment.receiptUrl,
        payment_id: payment.paymentId,
      } as const;
    case 'reverse':
      return { reversed_cents: taken + step.cents };
    case 'reinstate':
      return { reversed_cents: taken - step.cents };
    case 'close':
      return { status: step.status };
    case 'refuse':
      return { status: 'refused', receipt_url: payment.receiptUrl, payment_id: payment.paymentId } as const;
  }
}
