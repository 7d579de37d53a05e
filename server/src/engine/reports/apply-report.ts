import type { Report } from '@bakehouse/contract/runtime/report';
import { hasEnded } from '../model/has-ended.ts';
import { isWithDriver } from '../model/is-with-driver.ts';
import { latest } from '../model/latest.ts';
import type { Workload } from '../model/workload.ts';
import type { WorkloadChanges } from '../queries.ts';

/** The longest silence that counts as work. */
const COUNTED_SILENCE_S = 30;
/** A deployment that served this long is proven to work. */
const PROVEN_AFTER_S = 600;

/** Applies a heartbeat: active time passes, and a silent workload recovers. */
export function applyHeartbeat(workload: Workload, now: Date): WorkloadChanges {
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

/** Applies one report; metrics and log lines are stored elsewhere. */
export function applyReport(workload: Workload, report: Report, now: Date): WorkloadChanges {
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
    case 'metrics':
    case 'held_out_answers':
    case 'samples':
    case 'log':
      return {};
  }
}

function comingUp(workload: Workload, state: 'pulling' | 'starting', now: Date): WorkloadChanges {
  // It began in its driver's queue and was not observed since.
  if (isWithDriver(workload)) return { state, reason: '', attemptStartedAt: now };
  const isStarting =
    workload.state === 'scheduling' || workload.state === 'pulling' || workload.state === 'starting';
  return isStarting ? { state, reason: '' } : {};
}

function ready(workload: Workload, now: Date): WorkloadChanges {
  if (hasEnded(workload) || workload.state === 'ready' || workload.state === 'stopping') return {};
  return { state: 'ready', reason: '', readyAt: now };
}
