import { sql } from 'kysely';
import pg from 'pg';
import type { Config } from '../../../config.ts';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { AppError } from '../../../platform/errors.ts';
import { sqlStates } from '../../../platform/postgres/sql-states.ts';
import { isCreditExhausted } from '../../billing/ledger/holds/holds.ts';
import type { IdleCredit } from '../../billing/usage/with-idle-credit.ts';
import { endDeployment, sleepDeployment } from '../end-deployment.ts';
import { type DeploymentRow, listAwakeDeployments, lockDeployment, recordMeteredTime } from '../queries.ts';
import { sleepsAfterMinutes } from '../servers/plan/plan-model-server.ts';
import { reconcileModelServer } from '../servers/reconcile-model-server.ts';
import { dropIdleReplica } from '../servers/scale-deployment.ts';
import {
  listIdleStarterServers,
  listModelServersInUse,
  setStarterRequested,
} from '../servers/server-queries.ts';
import {
  countTime,
  extendOpenHold,
  holdLastPart,
  holdPeriod,
  settleAllStopped,
  settleTime,
  UNSEEN_MS_MAX,
  unchargedMs,
} from './meter-deployment.ts';

const METERED_AT_ONCE = 4;

const noIdleCredit: IdleCredit = { closeIdle: async () => 0 };

/**
 * Runs every minute. Counts the time of deployments, charges full hours, ends deployments without credit,
 * puts idle ones to sleep, reconciles their model servers, and charges stopped deployments.
 */
export async function meterDeployments(services: Services, usage: IdleCredit = noIdleCredit): Promise<void> {
  const { db, clock, config, log } = services;
  // A deployment that fails or whose row is locked must not delay the others.
  const turns = fairQueue(METERED_AT_ONCE);
  const awake = await listAwakeDeployments(db);
  await Promise.all(
    awake.map(({ id, user_id: userId }) =>
      turns.run(userId, () =>
        meterOrEnd(services, usage, { podId: id, userId }).catch((error: unknown) =>
          isLocked(error)
            ? log.info({ pod_id: id }, 'deployment is locked; metering it in the next pass')
            : log.error({ err: error, pod_id: id }, 'failed to meter deployment'),
        ),
      ),
    ),
  );
  // The job that reconciles a changed server may have failed, so reconcile all servers in use.
  for (const { id } of await listModelServersInUse(db)) {
    await inTransaction(db, (tx) => reconcileModelServer(tx, clock, id)).catch((error: unknown) =>
      log.error({ err: error, model_server_id: id }, 'failed to reconcile model server'),
    );
  }
  await settleAllStopped(services);
  if (config.idleMinutes === 0) return;
  const before = new Date(clock.now().getTime() - config.idleMinutes * 60_000);
  for (const { id } of await listIdleStarterServers(db, before)) {
    await inTransaction(db, async (tx) => {
      await setStarterRequested(tx, id, null);
      await reconcileModelServer(tx, clock, id);
    }).catch((error: unknown) =>
      log.error({ err: error, model_server_id: id }, 'failed to put starter model to sleep'),
    );
  }
}

/**
 * Meters a deployment. If the owner's credit does not cover the next hour, first closes idle usage windows,
 * then holds what is left, and finally ends the deployment.
 */
async function meterOrEnd(
  services: Services,
  usage: IdleCredit,
  { podId, userId }: { podId: string; userId: string },
): Promise<void> {
  let refusal = await meterOne(services, podId, { lastPart: false });
  if (refusal && (await usage.closeIdle(userId)) > 0)
    refusal = await meterOne(services, podId, { lastPart: false });
  if (refusal) refusal = await meterOne(services, podId, { lastPart: true });
  if (refusal) await endDeployment(services, podId, { ...whyItEnds(refusal), endedBy: null });
}

/**
 * Counts the time of a deployment. If its hold is used up, charges it and holds the next period. Returns the
 * error if that is not possible.
 */
async function meterOne(
  services: Services,
  podId: string,
  { lastPart }: { lastPart: boolean },
): Promise<AppError | null> {
  const { db, clock, config, log } = services;
  return inTransaction(db, async (tx) => {
    // Do not wait long for locks: the next run retries, and waiting would block other deployments on this
    // server.
    await sql`set local lock_timeout = '2s'`.execute(tx);
    const found = await lockDeployment(tx, podId);
    if (found.terminated_at || found.sleeping) return null;
    const now = clock.now();
    // If the deployment should have fallen asleep earlier, charge only up to that time.
    const sleepsAt = findSleepsAt(found, config);
    const isIdle = sleepsAt !== null && sleepsAt < now;
    const until = isIdle ? sleepsAt : now;
    const lostMs = await unchargedMs(tx, until, found);
    if (lostMs > 0) log.warn({ pod_id: podId, uncharged_ms: lostMs }, 'not charging unobserved time');
    // While no replica is ready, nothing is charged, and the hold stays open.
    const counted = await countTime(tx, until, found);
    if (counted.metered_at && isIdle) {
      await sleepDeployment(tx, clock, counted);
      return null;
    }
    const held = await extendOpenHold(tx, now, counted);
    const unseenMs = UNSEEN_MS_MAX * Math.max(1, counted.metered_replicas);
    if (held && counted.unsettled_ms + BigInt(unseenMs) < counted.held_ms) {
      // Drop replicas only in this branch: it notifies other processes, and a transaction that charges must
      // not do so.
      await dropIdleReplica(tx, clock, counted);
      return null;
    }

    const unsettledMs = await settleTime(tx, now, counted);
    const { metered_at: meteredAt, metered_replicas: replicas } = counted;
    await recordMeteredTime(tx, podId, { unsettledMs, meteredAt, replicas });
    return holdMore(tx, now, await lockDeployment(tx, podId), { lastPart });
  });
}

async function holdMore(
  tx: Transaction,
  now: Date,
  deployment: DeploymentRow,
  { lastPart }: { lastPart: boolean },
): Promise<AppError | null> {
  try {
    if (lastPart && (await holdLastPart(tx, now, deployment))) return null;
    await holdPeriod(tx, now, deployment);
    return null;
  } catch (error) {
    if (isCreditExhausted(error)) return error;
    throw error;
  }
}

/** The reason is stored without amounts, because each reader has another currency. */
function whyItEnds({ data: { budget } }: AppError): { reason: string; stopReason: 'credits' | 'budget' } {
  return budget
    ? { reason: `The budget of the API key '${budget.key_name}' is used up.`, stopReason: 'budget' }
    : { reason: 'You ran out of credit.', stopReason: 'credits' };
}

/** Returns when the deployment falls asleep if no more requests arrive; null if it never does. */
function findSleepsAt(deployment: DeploymentRow, config: Pick<Config, 'idleMinutes'>): Date | null {
  const minutes = sleepsAfterMinutes(config, deployment);
  const since = deployment.last_request_at ?? deployment.ready_at ?? deployment.created_at;
  return minutes === null ? null : new Date(since.getTime() + minutes * 60_000);
}

function isLocked(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === sqlStates.lockNotAvailable;
}
