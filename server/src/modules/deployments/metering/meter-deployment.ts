import { smallerAmount } from '@bakehouse/contract/money';
import type { Span } from '../../../engine/model/span.ts';
import { latest } from '../../../engine/model/workload.ts';
import { findWatched } from '../../../engine/reports/attempts.ts';
import type { Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { availableMicro } from '../../billing/ledger/available-micro.ts';
import { extendHold, hold, remainingBudgetMicro, settle } from '../../billing/ledger/holds/holds.ts';
import { agreedPrice, costMicro, currentPriceOf } from '../../billing/prices/cost.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import {
  type DeploymentRow,
  listReadyTimes,
  lockDeployment,
  recordMeteredTime,
  recordSettlement,
  setDeploymentHold,
} from '../queries.ts';

/**
 * The serving time of one replica that is held in advance. Shorter only if credit or budget does not cover
 * it. No item of a bill is longer.
 */
export const PERIOD_MS = 3_600_000;
/** A hold is valid for this long after it was last extended, so that deployments survive a short outage. */
const HOLD_SLACK_MS = 2 * PERIOD_MS;
/**
 * If no process received reports from model servers, nothing is known about that time, so only this much of
 * it is charged. The meter runs every minute. If it runs late, e.g. because a row was locked, reports were
 * still received, so all time is charged.
 */
export const UNSEEN_MS_MAX = 120_000;

type Priced = Pick<DeploymentRow, 'price_id' | 'price_count' | 'unit_price_micro'>;

/** Returns the price of serving time, in micro-BGL. */
export function timeCostMicro(
  { price_id, price_count, unit_price_micro }: Priced,
  milliseconds: bigint,
): bigint {
  const price = agreedPrice(price_id, unit_price_micro);
  return costMicro([{ price, parts: milliseconds * BigInt(price_count) }]);
}

/**
 * Step: returns the deployment with the current price, for its next hold. The open hold keeps the agreed
 * price. If the next hold must also cover time that was already served, and the price has risen, that hold
 * still has the old price.
 */
async function atPriceOfNow(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<DeploymentRow> {
  const { unitPriceMicro } = currentPriceOf(await readPrices(tx, now), deployment);
  const { unsettled_ms, unit_price_micro } = deployment;
  const price = unsettled_ms > 0n ? smallerAmount(unit_price_micro, unitPriceMicro) : unitPriceMicro;
  return { ...deployment, unit_price_micro: price };
}

type Meter = Pick<DeploymentRow, 'unsettled_ms' | 'metered_at' | 'metered_replicas'>;

/**
 * Returns how many milliseconds all replicas have used under the open hold up to `now`. Assumes that all of
 * them have served since the last count. If the last count is long ago, includes only the time that will be
 * charged in any case.
 */
export function usedMs({ unsettled_ms, metered_at, metered_replicas }: Meter, now: Date): bigint {
  return unsettled_ms + countedMs(metered_at, now, null) * BigInt(metered_replicas);
}

/**
 * Like `usedMs`, but counts each replica only from the time when it became ready. This leaves out replicas
 * that have stopped serving since the last count, and the time of restarts.
 */
async function servedMs(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<bigint> {
  const { unsettled_ms, metered_at, metered_replicas } = deployment;
  if (metered_at === null) return unsettled_ms;
  const readyTimes = await listReadyTimes(tx, deployment, ['ready', 'degraded', 'stopping']);
  const watched = await findWatchedSince(tx, metered_at, now);
  return readyTimes
    .slice(0, metered_replicas)
    .reduce((sum, readyAt) => sum + countedMs(latest(metered_at, readyAt), now, watched), unsettled_ms);
}

/** Returns the milliseconds since the last count that are not charged. */
export async function unchargedMs(
  tx: Transaction,
  now: Date,
  { metered_at }: Pick<Meter, 'metered_at'>,
): Promise<number> {
  if (metered_at === null) return 0;
  const watched = await findWatchedSince(tx, metered_at, now);
  return now.getTime() - metered_at.getTime() - Number(countedMs(metered_at, now, watched));
}

/**
 * Returns the time span in which a process received reports. Null if the last count is so recent that it does
 * not matter.
 */
async function findWatchedSince(tx: Transaction, meteredAt: Date, now: Date): Promise<Span | null> {
  return now.getTime() - meteredAt.getTime() > UNSEEN_MS_MAX ? findWatched(tx) : null;
}

/**
 * Returns how many milliseconds since then are charged: all time in which reports were received, and other
 * time up to `UNSEEN_MS_MAX`.
 */
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
 * Step: counts the time up to now, and records how many replicas are ready, for the next count. Returns the
 * updated row.
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
  await recordMeteredTime(tx, deployment.id, { unsettledMs, meteredAt, replicas });
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
    // All replicas share the hour that the hold covers.
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
  await setDeploymentHold(tx, deployment.id, {
    holdId,
    heldMs: periodMs,
    unitPriceMicro: deployment.unit_price_micro,
  });
}

/**
 * Step: if the owner's credit or the key's budget does not cover a whole period, holds the rest of it.
 * Returns false if the rest is not enough until the next run of the meter.
 */
export async function holdLastPart(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<boolean> {
  const available = await availableMicro(tx, deployment.user_id);
  const left = deployment.key_id === null ? null : await remainingBudgetMicro(tx, deployment.key_id);
  const micro = left === null ? available : smallerAmount(left, available);
  const priced = await atPriceOfNow(tx, now, deployment);
  const periodMs = (micro * BigInt(PERIOD_MS)) / timeCostMicro(priced, BigInt(PERIOD_MS));
  const nextLookMs = UNSEEN_MS_MAX * deployment.max_replicas;
  if (periodMs <= BigInt(nextLookMs) || periodMs >= BigInt(PERIOD_MS)) return false;
  await holdTime(tx, now, priced, periodMs);
  return true;
}

/**
 * Step: charges the time used under the open hold, and stops the meter. Returns the milliseconds beyond the
 * hold, which the next hold must cover. If there is no open hold, returns the milliseconds that already wait
 * for the next one.
 */
export async function settleTime(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<bigint> {
  if (deployment.hold_id === null) return deployment.unsettled_ms;
  const { held_ms: heldMs } = deployment;
  const servedInMs = await servedMs(tx, now, deployment);
  const amountMicro = timeCostMicro(deployment, smallerAmount(servedInMs, heldMs));
  const alive = await unlessEnded(settle(tx, { holdId: deployment.hold_id, amountMicro }));
  await recordSettlement(tx, deployment.id, alive ? amountMicro : 0n);
  return alive && servedInMs > heldMs ? servedInMs - heldMs : 0n;
}

/**
 * Step: extends the validity of a live deployment's hold. Returns false if there is none or it has expired.
 */
export async function extendOpenHold(
  tx: Transaction,
  now: Date,
  deployment: DeploymentRow,
): Promise<boolean> {
  if (deployment.hold_id === null) return false;
  const expiresAt = new Date(now.getTime() + HOLD_SLACK_MS);
  return unlessEnded(extendHold(tx, { holdId: deployment.hold_id, expiresAt }));
}

/**
 * Returns false if the hold has already ended: it was released when it expired, because no server was
 * running. The time under it is not charged.
 */
async function unlessEnded(move: Promise<unknown>): Promise<boolean> {
  try {
    await move;
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return false;
    throw error;
  }
}

/**
 * Charges the time of a stopped or sleeping deployment, once. Must not run in the transaction that stopped
 * it, because that one notifies other processes, and PostgreSQL serialises commits of transactions that
 * notify.
 */
export async function settleStopped(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  podId: string,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (deployment.sleeping || deployment.terminated_at) await settleTime(tx, clock.now(), deployment);
  });
}

/**
 * Charges the time of all stopped deployments that were not charged yet, because a start failed or a process
 * died between stopping and charging.
 */
export async function settleAllStopped({
  db,
  clock,
  log,
}: Pick<Services, 'db' | 'clock' | 'log'>): Promise<void> {
  for (const id of await listUnsettled(db))
    await settleStopped({ db, clock }, id).catch((error: unknown) =>
      log.error({ err: error, pod_id: id }, 'failed to settle deployment'),
    );
}

async function listUnsettled(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('deployments')
    .select('id')
    .where('hold_id', 'is not', null)
    .where((row) => row.or([row('sleeping', '=', true), row('terminated_at', 'is not', null)]))
    .execute();
  return rows.map(({ id }) => id);
}
