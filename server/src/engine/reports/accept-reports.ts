import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Report } from '@bakehouse/contract/runtime/report';
import type { postWorkloadReports } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { storableJson } from '../../platform/db/storable-text.ts';
import { invalidParam, unavailable } from '../../platform/errors.ts';
import { type Artefact, selectArtefacts } from '../files/file-queries.ts';
import { hasEnded, isWithDriver, latest, type Result, type Workload } from '../model/workload.ts';
import { announce, type WorkloadKinds } from '../model/workload-kind.ts';
import {
  findServingPlace,
  insertLogLines,
  type ServingPlace,
  updateWorkload,
  upsertMetrics,
  type WorkloadChanges,
  wakeEngines,
} from '../queries.ts';
import { lockAttempt } from './attempts.ts';

/** Longest time between two reports that counts as work. */
const COUNTED_SILENCE_S = 30;

/** After this much service a deployment has proven that it works, which resets its failures. */
const PROVEN_AFTER_S = 600;

/**
 * Accepts a batch of reports with all their effects in one transaction. Skips reports that were accepted
 * before. An empty batch is a heartbeat. Returns the next sequence number, and whether the workload should
 * stop.
 */
export async function acceptReports(
  ctx: Pick<Context<WorkloadCaller>, 'db' | 'clock' | 'caller'>,
  { body }: Pick<InputOf<typeof postWorkloadReports>, 'body'>,
  kinds: WorkloadKinds,
): Promise<ResponseOf<typeof postWorkloadReports>> {
  return inTransaction(ctx.db, async (tx) => {
    const before = await lockAttempt(tx, ctx.caller);
    const now = ctx.clock.now();
    // Reports may quote libraries and data files, whose text a database may not be able to store.
    const newReports = storableJson(nextInOrder(body.reports, before.acceptedSeq));
    const reports: Report[] = [];
    for (const report of newReports) {
      if (report.type !== 'ready') reports.push(report);
      else
        reports.push({
          ...report,
          base_url: servingUrl(report.base_url, await findServingPlace(tx, before.id)),
        });
    }

    const changes = applyHeartbeat(before, now);
    let workload: Workload = { ...before, ...changes };
    for (const report of reports) {
      const more = applyReport(workload, report, now);
      Object.assign(changes, more);
      workload = { ...workload, ...more };
    }
    changes.acceptedSeq = reports.at(-1)?.seq ?? before.acceptedSeq;
    if (changes.outcome) changes.checkAt = now;
    workload = await updateWorkload(tx, before.id, changes);

    await saveReports(tx, workload, reports);
    const kind = kinds.get(workload.kind);
    for (const report of reports) {
      if (report.type === 'result') {
        await kind?.onResult?.(tx, workload, report, await namedArtefacts(tx, workload.id, report));
      }
    }
    await kind?.onReports?.(tx, workload, reports);
    if (isVisible(before, workload, reports)) await announce(kinds, tx, workload, before);
    if (changes.outcome) await wakeEngines(tx);
    const { wanted, drainSeconds } = workload;
    return {
      accepted_seq: workload.acceptedSeq,
      command: wanted === 'stopped' ? 'stop' : 'continue',
      ...(drainSeconds > 0 && { drain_seconds: drainSeconds }),
      ...(await kind?.findAdapters?.(tx, workload)),
    };
  });
}

/** True if users see the change. They do not see heartbeats and checkpoints. */
function isVisible(before: Workload, after: Workload, reports: Report[]): boolean {
  return (
    after.state !== before.state ||
    after.reason !== before.reason ||
    reports.some(({ type }) => type !== 'checkpoint')
  );
}

/** Returns the reports that are new. Throws AppError('invalid_request') if one is missing. */
function nextInOrder(reports: Report[], acceptedSeq: number): Report[] {
  const fresh = reports.filter((report) => report.seq > acceptedSeq);
  fresh.forEach((report, index) => {
    const expected = acceptedSeq + 1 + index;
    if (report.seq !== expected) {
      throw invalidParam('reports', `Report ${expected} is missing before report ${report.seq}`);
    }
  });
  return fresh;
}

/**
 * Returns the URL for users' requests to a model server. On a machine, the reported host must be the expected
 * one. In a cluster, only the reported port is used; the host is the one that the driver has seen. Throws
 * AppError 'invalid_request' for another host, and 'unavailable' until the host is known.
 */
function servingUrl(baseUrl: string, { host, port, isOnMachine }: ServingPlace): string {
  if (host === null) {
    const publicMessage = 'The address of this workload is not known yet. It is asked for again at once.';
    throw unavailable(publicMessage);
  }
  const shown = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  const url = URL.parse(baseUrl);
  const isOwn =
    url?.protocol === 'http:' &&
    (!isOnMachine || url.hostname === shown) &&
    url.href === `http://${url.host}/` &&
    (port === 0 || url.port === String(port));
  if (isOwn) return isOnMachine ? baseUrl : `http://${shown}:${url.port || 80}`;
  throw invalidParam(
    'reports',
    `base_url must be the address where this workload was told to answer, http://${shown}:${port || 'PORT'}`,
  );
}

async function saveReports(tx: Transaction, workload: Workload, reports: Report[]): Promise<void> {
  const logs = reports.filter((report) => report.type === 'log');
  await insertLogLines(
    tx,
    workload.id,
    logs.map(({ at, line }) => ({ at: new Date(at), line })),
  );
  const metrics = reports.filter((report) => report.type === 'metrics');
  await upsertMetrics(
    tx,
    workload.id,
    metrics.map(({ step, at, values }) => ({ step, at: new Date(at), values })),
  );
}

async function namedArtefacts(tx: Transaction, workloadId: string, result: Result): Promise<Artefact[]> {
  const stored = new Map(
    (await selectArtefacts(tx, workloadId)).map((artefact) => [artefact.path, artefact]),
  );
  return result.files.map(({ path, sha256 }) => {
    const artefact = stored.get(path);
    if (artefact?.sha256 !== sha256) {
      throw invalidParam('files', `The file ${path} has not been stored`);
    }
    return artefact;
  });
}

/** Applies a heartbeat: counts active time, and ends the state `degraded`. */
function applyHeartbeat(workload: Workload, now: Date): WorkloadChanges {
  const working = workload.state === 'ready' || workload.state === 'degraded';
  const counted = working && workload.phaseCounted;
  const since = latest(workload.lastReportAt, workload.readyAt);
  const silence = counted && since ? Math.max(0, (now.getTime() - since.getTime()) / 1000) : 0;
  const proven =
    workload.behaviour === 'deployment' && working && workload.readyAt !== null
      ? now.getTime() - workload.readyAt.getTime() > PROVEN_AFTER_S * 1000
      : false;
  return {
    lastReportAt: now,
    activeSeconds: workload.activeSeconds + Math.min(silence, COUNTED_SILENCE_S),
    ...(workload.state === 'degraded' && { state: 'ready', reason: '' }),
    ...(proven && { failures: 0 }),
  };
}

/** Applies one report, except for metrics and log lines, which are in their own tables. */
function applyReport(workload: Workload, report: Report, now: Date): WorkloadChanges {
  switch (report.type) {
    case 'phase':
      return {
        phase: report.phase,
        phaseCounted: report.counted ?? true,
        done: null,
        total: null,
        unit: null,
        remainingSeconds: null,
        ...comingUp(workload, report.phase.startsWith('pulling') ? 'pulling' : 'starting', now),
      };
    case 'progress':
      return {
        done: report.done,
        total: report.total,
        unit: report.unit,
        remainingSeconds: report.remaining_seconds,
        ...(report.unit === 'steps' && {
          step: Math.round(report.done),
          stepsTotal: Math.round(report.total),
        }),
        ...(report.unit === 'steps' && workload.behaviour === 'run' && ready(workload, now)),
      };
    case 'ready':
      return { baseUrl: report.base_url, ...ready(workload, now) };
    case 'checkpoint':
      return { savedSeconds: workload.activeSeconds, failures: 0 };
    case 'stopped':
      return { outcome: report, savedSeconds: workload.activeSeconds };
    case 'result':
    case 'failed':
      return { outcome: report };
    case 'leaving':
    case 'adapter':
    case 'metrics':
    case 'held_out_answers':
    case 'samples':
    case 'log':
      return {};
  }
}

function comingUp(workload: Workload, state: 'pulling' | 'starting', now: Date): WorkloadChanges {
  // The attempt has begun in its driver's own queue, which was not observed yet.
  if (isWithDriver(workload)) return { state, reason: '', attemptStartedAt: now };
  const isStarting =
    workload.state === 'scheduling' || workload.state === 'pulling' || workload.state === 'starting';
  return isStarting ? { state, reason: '' } : {};
}

function ready(workload: Workload, now: Date): WorkloadChanges {
  if (hasEnded(workload) || workload.state === 'ready' || workload.state === 'stopping') return {};
  return { state: 'ready', reason: '', readyAt: now };
}
