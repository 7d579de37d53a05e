import { smallerAmount } from '@bakehouse/contract/money';
import { latest } from '../../../engine/model/latest.ts';
import type { Span } from '../../../engine/model/span.ts';
import { findWatched } from '../../../engine/reports/find-watched.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { availableMicro } from '../../credits/ledger/available-micro.ts';
import { extendHold } from '../../credits/ledger/holds/extend-hold.ts';
import { hold } from '../../credits/ledger/holds/hold.ts';
import { leftOfBudgetMicro } from '../../credits/ledger/holds/left-of-budget-micro.ts';
import { settle } from '../../credits/ledger/holds/settle.ts';
import { agreedPrice, priceOfNow } from '../../credits/prices/agreed-price.ts';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import { readPrices } from '../../credits/prices/read-prices.ts';
import { type DeploymentRow, listReadyTimes, noteHold, noteSettled, noteTime } from '../queries.ts';

/**
 * A deployment pays ahead for this long of one replica, or as long as credit and budget last: it is the hold, and
 * the longest piece of a bill.
 */
export const PERIOD_MS = 3_600_000;
/** A hold outlives its last extension by this long, so that a short outage ends nothing. */
const HOLD_SLACK_MS = 2 * PERIOD_MS;
/**
 * Time in which no server took reports in is not charged beyond this: nobody knows whether anything was served. The tick comes
 * every minute; where it comes late, because a row was locked, the time was watched all the same.
 */
export const UNSEEN_MS_MAX = 120_000;

type Priced = Pick<DeploymentRow, 'price_id' | 'price_count' | 'unit_price_micro'>;

/** What so many milliseconds of a deployment cost at its price, in micro-BGL. */
export function timeCostMicro(
  { price_id, price_count, unit_price_micro }: Priced,
  milliseconds: bigint,
): bigint {
  const price = agreedPrice(price_id, unit_price_micro);
  return costMicro([{ price, parts: milliseconds * BigInt(price_count) }]);
}

/**
 * Step: the deployment at the price of now, which its next hold has; the open one keeps its own. Where time that was served
 * before is charged under the next one too, a price that has risen since is that of the one after it.
 */
async function atPriceOfNow(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<DeploymentRow> {
  const { unitPriceMicro } = priceOfNow(await readPrices(tx, now), deployment);
  const { unsettled_ms, unit_price_micro } = deployment;
  const price = unsettled_ms > 0n ? smallerAmount(unit_price_micro, unitPriceMicro) : unitPriceMicro;
  return { ...deployment, unit_price_micro: price };
}

type Meter = Pick<DeploymentRow, 'unsettled_ms' | 'metered_at' | 'metered_replicas'>;

/**
 * Milliseconds used under the open hold, up to `now`, by all replicas together, if they all have served since the last count; of a
 * count that is late no more than is sure.
 */
export function usedMs({ unsettled_ms, metered_at, metered_replicas }: Meter, now: Date): bigint {
  return unsettled_ms + countedMs(metered_at, now, null) * BigInt(metered_replicas);
}

/** The same, of each replica from when it was ready: what has served no more since the last count is not charged, nor is the time in which it started again. */
async function servedMs(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<bigint> {
  const { unsettled_ms, metered_at, metered_replicas } = deployment;
  if (metered_at === null) return unsettled_ms;
  const readyTimes = await listReadyTimes(tx, deployment, ['ready', 'degraded', 'stopping']);
  const watched = await findWatchedSince(tx, metered_at, now);
  return readyTimes
    .slice(0, metered_replicas)
    .reduce((sum, readyAt) => sum + countedMs(latest(metered_at, readyAt), now, watched), unsettled_ms);
}

/** Milliseconds since the last count that are not charged. */
export async function unchargedMs(
  tx: Transaction,
  now: Date,
  { metered_at }: Pick<Meter, 'metered_at'>,
): Promise<number> {
  if (metered_at === null) return 0;
  const watched = await findWatchedSince(tx, metered_at, now);
  return now.getTime() - metered_at.getTime() - Number(countedMs(metered_at, now, watched));
}

/** When reports were taken in, where the last count is so long ago that it matters. */
async function findWatchedSince(tx: Transaction, meteredAt: Date, now: Date): Promise<Span | null> {
  return now.getTime() - meteredAt.getTime() > UNSEEN_MS_MAX ? findWatched(tx) : null;
}

/** Milliseconds since then: all that was watched, and of the rest as much as is charged unseen. */
function countedMs(since: Date | null, now: Date, watched: Span | null): bigint {
  if (since === null) return 0n;
  const passed = Math.max(now.getTime() - since.getTime(), 0);
  const seen = watched ? overlapMs({ since, until: now }, watched) : 0;
  return BigInt(seen + Math.min(passed - seen, UNSEEN_MS_MAX));
}

function overlapMs(a: Span, b: Span): number {
  const since = Math.max(a.since.getTime(), b.since.getTime());
  return Math.max(Math.min(a.until.getTime(), b.until.getTime()) - since, 0);
}

/**
 * Step: counts the time up to now, and goes on with as many replicas as answer. Returns the row as it
 * is then.
 */
export async function countTime(
  tx: Transaction,
  now: Date,
  deployment: DeploymentRow,
): Promise<DeploymentRow> {
  const isOver = deployment.sleeping || deployment.terminated_at !== null;
  const replicas = isOver ? 0 : (await listReadyTimes(tx, deployment, ['ready', 'degraded'])).length;
  const unsettledMs = await servedMs(tx, now, deployment);
  const meteredAt = replicas > 0 ? now : null;
  await noteTime(tx, deployment.id, { unsettledMs, meteredAt, replicas });
  return { ...deployment, unsettled_ms: unsettledMs, metered_at: meteredAt, metered_replicas: replicas };
}

/** Step: holds the price of the next period. Throws AppError 'insufficient_funds' or 'budget_exceeded'. */
export async function holdPeriod(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<void> {
  await holdTime(tx, now, await atPriceOfNow(tx, now, deployment), BigInt(PERIOD_MS));
}

async function holdTime(
  tx: Transaction,
  now: Date,
  deployment: DeploymentRow,
  periodMs: bigint,
): Promise<void> {
  const { holdId } = await hold(tx, {
    userId: deployment.user_id,
    amountMicro: timeCostMicro(deployment, periodMs),
    kind: 'deployment',
    // With replicas the hour that is held ahead is one of them all together.
    description: `Serving ${deployment.title}${deployment.max_replicas > 1 ? ', one replica-hour' : ''}`,
    references: {
      asset_name: deployment.title,
      model_id: deployment.asset_id,
      pod_id: deployment.id,
      ...(deployment.key_id && { key_id: deployment.key_id }),
    },
    expiresAt: new Date(now.getTime() + HOLD_SLACK_MS),
    idempotencyKey: `deployment:${deployment.id}:${deployment.holds_made}`,
  });
  await noteHold(tx, deployment.id, {
    holdId,
    heldMs: periodMs,
    unitPriceMicro: deployment.unit_price_micro,
  });
}

/**
 * Step: holds what is left of the owner's credit and of the key's budget, where that is less than a period but
 * worth the next look. False where it is not.
 */
export async function holdLastPart(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<boolean> {
  const available = await availableMicro(tx, deployment.user_id);
  const left = deployment.key_id === null ? null : await leftOfBudgetMicro(tx, deployment.key_id);
  const micro = left === null ? available : smallerAmount(left, available);
  const priced = await atPriceOfNow(tx, now, deployment);
  const periodMs = (micro * BigInt(PERIOD_MS)) / timeCostMicro(priced, BigInt(PERIOD_MS));
  const nextLookMs = UNSEEN_MS_MAX * deployment.max_replicas;
  if (periodMs <= BigInt(nextLookMs) || periodMs >= BigInt(PERIOD_MS)) return false;
  await holdTime(tx, now, priced, periodMs);
  return true;
}

/**
 * Step: charges the time used under the open hold and stops the meter. Returns the milliseconds that the hold did not
 * cover, which are of the next one; without an open hold those that still wait for one.
 */
export async function settleTime(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<bigint> {
  if (deployment.hold_id === null) return deployment.unsettled_ms;
  const { held_ms: heldMs } = deployment;
  const servedInMs = await servedMs(tx, now, deployment);
  const amountMicro = timeCostMicro(deployment, smallerAmount(servedInMs, heldMs));
  const alive = await unlessEnded(settle(tx, { holdId: deployment.hold_id, amountMicro }));
  await noteSettled(tx, deployment.id, alive ? amountMicro : 0n);
  return alive && servedInMs > heldMs ? servedInMs - heldMs : 0n;
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
