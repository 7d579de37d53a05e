import type { KnownMachine } from '../machines/queries.ts';
import type { Workload } from '../model/workload.ts';
import type { Holding, OfferingMachine } from './queue.ts';

/* Converts rows to the queue's input. */

/** Returns the machine and its cluster, if they accept work now. */
export function toOfferingMachines(machines: KnownMachine[]): OfferingMachine[] {
  return machines.flatMap(({ id, offer, isPresent }) => (offer && isPresent ? [{ id, ...offer }] : []));
}

/** Returns a slot holder as the queue's input. */
export function toHolding(workload: Workload, now: Date): Holding {
  return { ...workload, devices: workload.devices ?? [], secondsLeft: secondsLeft(workload, now) };
}

/**
 * Estimates the seconds until a run ends, from the pace of its steps: zero if the estimated time has passed,
 * null before the first step. The quoted duration is not used, because a machine with other work is slower.
 */
function secondsLeft(
  workload: Pick<Workload, 'behaviour' | 'unit' | 'remainingSeconds' | 'lastReportAt'>,
  now: Date,
): number | null {
  const { behaviour, unit, remainingSeconds, lastReportAt } = workload;
  if (behaviour === 'deployment' || unit !== 'steps') return null;
  if (remainingSeconds === null || lastReportAt === null) return null;
  const left = remainingSeconds - (now.getTime() - lastReportAt.getTime()) / 1000;
  return Math.max(0, left);
}
