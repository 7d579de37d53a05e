import { smallerAmount } from '@bakehouse/contract/money';
import type { Span } from '../../../engine/model/span.ts';
import { latest } from '../../../engine/model/workload.ts';
import { findWatched } from '../../../engine/reports/attempts.ts';
import type { Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { availableMicro } from '../../billing/ledger/available-micro.ts';
import { extendHold, hold, leftOfBudgetMicro, settle } from '../../billing/ledger/holds/holds.ts';
import { agreedPrice, costMicro, currentPriceOf } from '../../billing/prices/cost.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import {
  type DeploymentRow,
  listReadyTimes,
  lockDeployment,
  recordMeteredTime,
  recordSettlement,
  setBatchHold,
} from '../queries.ts';

/**
 * Serving time of one replica held in advance, or less if credit or budget is short. Also the longest item of
 * a bill.
 */
export const PERIOD_MS = 3_600_000;
/** A hold outlives its last extension by this long, so that a short outage ends no deployment. */
const HOLD_SLACK_MS = 2 * PERIOD_MS;
/**
 * Charge at most this much time without observed reports: it is unknown whether anything was served. The
 * meter ticks every minute; time during a late tick (after a locked row, for example) was still observed.
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
 * Step: returns the deployment with the current price for its next hold; the open hold keeps the agreed
 * price. If the next hold also covers time already served, a risen price applies only to the hold after it.
 */
async function atPriceOfNow(tx: Transaction, now: Date, deployment: DeploymentRow): Promise<DeploymentRow> {
  const { unitPriceMicro } = currentPriceOf(await readPrices(tx, now), deployment);
  const { unsettled_ms, unit_price_micro } = deployment;
  const price = unsettled_ms > 0n ? smallerAmount(unit_price_micro, unitPriceMicro) : unitPriceMicro;
  return { ...deployment, unit_price_micro: price };
}

type Meter = Pick<DeploymentRow, 'unsettled_ms' | 'metered_at' | 'metered_replicas'>;

/**
 * Returns the milliseconds used under the open hold up to `now` by all replicas, assuming that all served
 * since the last count; if that count is late, only the time certain to be charged.
 */
export function usedMs({ unsettled_ms, metered_at, metered_replicas }: Meter, now: Date): bigint {
  return unsettled_ms + countedMs(metered_at, now, null) * BigInt(metered_replicas);
}

/**
 * Like `usedMs`, but counts each replica only from when it became ready: excludes replicas that stopped
 * serving since the last count, and their restarts.
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

/** Returns the span in which reports were observed, if the last count is long enough ago to need it. */
async function findWatchedSince(tx: Transaction, meteredAt: Date, now: Date): Promise<Span | null> {
  return now.getTime() - meteredAt.getTime() > UNSEEN_MS_MAX ? findWatched(tx) : null;
}

/** Returns the chargeable milliseconds since then: all observed time, and unobserved time up to the limit. */
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
 * Step: counts the time up to now, and continues with the number of replicas that are ready. Returns the
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
    // The hold covers one hour shared by all replicas.
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
  await setBatchHold(tx, deployment.id, {
    holdId,
    heldMs: periodMs,
    unitPriceMicro: deployment.unit_price_micro,
  });
}

/**
 * Step: holds the rest of the owner's credit or the key's budget if it is less than a period but covers the
 * time to the next tick. Returns false otherwise.
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
 * Step: charges the time used under the open hold and stops the meter. Returns the milliseconds that the hold
 * did not cover, for the next hold; without an open hold, those still waiting for one.
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

/** Step: extends the hold of a live deployment. Returns false if the hold has expired. */
export async function extendOpenHold(
  tx: Transaction,
  now: Date,
  deployment: DeploymentRow,
): Promise<boolean> {
  if (deployment.hold_id === null) return false;
  const expiresAt = new Date(now.getTime() + HOLD_SLACK_MS);
  return unlessEnded(extendHold(tx, { holdId: deployment.hold_id, expiresAt }));
}

/** A hold that expired while no server was running was already released; don't bill for that time. */
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
 * Settles the time of a stopped or sleeping deployment, once. Not in the transaction that stopped it: that
 * one notifies other processes, and PostgreSQL serialises commits of notifying transactions.
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
 * Settles every stopped deployment that is unsettled, after a failed start or a crash between stopping and
 * settling.
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
