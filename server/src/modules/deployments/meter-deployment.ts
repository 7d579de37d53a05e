import { findWorkload } from '../../engine/queries.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { extendHold, hold, settle } from '../credits/ledger.ts';
import type { PriceId } from '../credits/prices.ts';
import { costMicro } from '../credits/quote.ts';
import { type DeploymentRow, noteHold, noteSettled } from './queries.ts';

/** A deployment pays ahead for this long: it is the hold, and the longest piece of a bill. */
export const PERIOD_MS = 3_600_000;
/** A hold outlives its last extension by this long, so that a short outage ends nothing. */
const HOLD_SLACK_MS = 2 * PERIOD_MS;
/** Time that nobody watched is not charged beyond this: the tick comes every minute. */
export const UNSEEN_MS_MAX = 120_000;

/** What so many milliseconds of a deployment cost, in micro-BGL. */
export function timeCostMicro(
  deployment: Pick<DeploymentRow, 'price_id' | 'price_count'>,
  milliseconds: bigint,
): bigint {
  return costMicro([
    { priceId: deployment.price_id as PriceId, parts: milliseconds * BigInt(deployment.price_count) },
  ]);
}

/** Milliseconds used under the open hold, up to `now`. */
export function usedMs(deployment: Pick<DeploymentRow, 'unsettled_ms' | 'metered_at'>, now: Date): bigint {
  const running = deployment.metered_at ? now.getTime() - deployment.metered_at.getTime() : 0;
  return deployment.unsettled_ms + BigInt(Math.min(Math.max(running, 0), UNSEEN_MS_MAX));
}

/** Up to when a deployment was served: now, or when it was last counted if nothing answers any more. */
export async function servedUntil(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<Date> {
  const carrier = deployment.carrier_id ? await findWorkload(tx, deployment.carrier_id) : null;
  const serves = carrier !== null && ['ready', 'degraded', 'stopping'].includes(carrier.state);
  return serves ? now : (deployment.metered_at ?? now);
}

/** Step: holds the next period's price. Throws AppError 'insufficient_funds' or 'budget_exceeded'. */
export async function holdPeriod(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<void> {
  const { holdId } = await hold(tx, {
    userId: deployment.user_id,
    amountMicro: timeCostMicro(deployment, BigInt(PERIOD_MS)),
    kind: 'deployment',
    description: `Serving ${deployment.title}`,
    references: {
      asset_name: deployment.title,
      model_id: deployment.asset_id,
      pod_id: deployment.id,
      ...(deployment.key_id && { key_id: deployment.key_id }),
    },
    expiresAt: new Date(now.getTime() + HOLD_SLACK_MS),
    idempotencyKey: `deployment:${deployment.id}:${deployment.holds_made}`,
  });
  await noteHold(tx, deployment.id, holdId);
}

/** Step: charges the time used under the open hold and stops the meter. */
export async function settleTime(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<void> {
  if (deployment.hold_id === null) return;
  const held = timeCostMicro(deployment, BigInt(PERIOD_MS));
  const used = timeCostMicro(deployment, usedMs(deployment, await servedUntil(tx, now, deployment)));
  const amountMicro = used < held ? used : held;
  const alive = await unlessEnded(settle(tx, { holdId: deployment.hold_id, amountMicro }));
  await noteSettled(tx, deployment.id, alive ? amountMicro : 0n);
}

/** Step: keeps the hold alive while its deployment waits or answers. False when it has ended by itself. */
export async function keepHold(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<boolean> {
  if (deployment.hold_id === null) return false;
  const expiresAt = new Date(now.getTime() + HOLD_SLACK_MS);
  return unlessEnded(extendHold(tx, { holdId: deployment.hold_id, expiresAt }));
}

/** A hold that ran out while no server was up has gone back to its user: that time was not served. */
async function unlessEnded(move: Promise<unknown>): Promise<boolean> {
  try {
    await move;
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return false;
    throw error;
  }
}
