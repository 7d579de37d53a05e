import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { extendHold, hold, settle } from '../credits/ledger.ts';
import type { PriceId } from '../credits/prices.ts';
import { costMicro } from '../credits/quote.ts';
import type { DeploymentRow } from './queries.ts';

/** A deployment pays ahead for this long: it is the hold, and the longest piece of a bill. */
export const PERIOD_MS = 3_600_000;
/** A hold outlives its last extension by this long, so that a short outage ends nothing. */
const HOLD_SLACK_MS = 2 * PERIOD_MS;
/** Time that nobody watched is not charged beyond this: the tick comes every minute. */
const UNSEEN_MS_MAX = 120_000;

type Priced = Pick<DeploymentRow, 'price_id' | 'price_count'>;

/** What so many milliseconds of a deployment cost, in micro-BGL. */
export function timeCostMicro(deployment: Priced, milliseconds: bigint): bigint {
  return costMicro([
    { priceId: deployment.price_id as PriceId, parts: milliseconds * BigInt(deployment.price_count) },
  ]);
}

/** Milliseconds used under the open hold, up to `now`. */
export function usedMs(deployment: Pick<DeploymentRow, 'unsettled_ms' | 'metered_at'>, now: Date): bigint {
  const running = deployment.metered_at ? now.getTime() - deployment.metered_at.getTime() : 0;
  return deployment.unsettled_ms + BigInt(Math.min(Math.max(running, 0), UNSEEN_MS_MAX));
}

/** Holds the next period's price. Throws AppError 'insufficient_funds'. */
export async function holdPeriod(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<void> {
  const { holdId } = await hold(tx, {
    userId: deployment.user_id,
    amountMicro: timeCostMicro(deployment, BigInt(PERIOD_MS)),
    kind: 'deployment',
    description: `Serving ${deployment.title}`,
    references: { asset_name: deployment.title, model_id: deployment.asset_id, pod_id: deployment.id },
    expiresAt: new Date(now.getTime() + HOLD_SLACK_MS),
    idempotencyKey: `deployment:${deployment.id}:${deployment.holds_made}`,
  });
  await tx
    .updateTable('deployments')
    .set({ hold_id: holdId, holds_made: deployment.holds_made + 1 })
    .where('id', '=', deployment.id)
    .execute();
}

/** Charges the time used under the open hold and stops counting. Answers what was charged. */
export async function settleTime(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<void> {
  if (deployment.hold_id === null) return;
  const held = timeCostMicro(deployment, BigInt(PERIOD_MS));
  const used = timeCostMicro(deployment, usedMs(deployment, now));
  const amountMicro = used < held ? used : held;
  const settled = await settleUnlessExpired(tx, deployment.hold_id, amountMicro);
  await tx
    .updateTable('deployments')
    .set({
      hold_id: null,
      unsettled_ms: 0n,
      metered_at: null,
      settled_micro: deployment.settled_micro + settled,
    })
    .where('id', '=', deployment.id)
    .execute();
}

/** Counts the time since the last look and keeps the hold alive; true when a period is about to be full. */
export async function countTime(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<boolean> {
  const used = usedMs(deployment, now);
  if (deployment.hold_id) {
    await extendHold(tx, { holdId: deployment.hold_id, expiresAt: new Date(now.getTime() + HOLD_SLACK_MS) }).catch(
      ignoreEnded,
    );
  }
  await tx
    .updateTable('deployments')
    .set({ unsettled_ms: used, metered_at: now })
    .where('id', '=', deployment.id)
    .execute();
  return used + BigInt(UNSEEN_MS_MAX) >= BigInt(PERIOD_MS);
}

/** A hold that ran out while the server was down for hours has gone back to the user: that time was not served. */
async function settleUnlessExpired(tx: Transaction, holdId: string, amountMicro: bigint): Promise<bigint> {
  try {
    await settle(tx, { holdId, amountMicro });
    return amountMicro;
  } catch (error) {
    ignoreEnded(error);
    return 0n;
  }
}

function ignoreEnded(error: unknown): void {
  if (!(error instanceof AppError && error.code === 'conflict')) throw error;
}
