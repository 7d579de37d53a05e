import type { KnownMachine } from '../machines/queries.ts';
import type { Workload } from '../model/workload.ts';
import type { Holding, OfferingMachine } from './queue.ts';

/* What the queue decides by, of the rows that there are. */

/** The machine and its cluster, where they take work at present. */
export function offering(machines: KnownMachine[]): OfferingMachine[] {
  return machines.flatMap(({ id, offer, isPresent }) => (offer && isPresent ? [{ id, ...offer }] : []));
}

/** What holds slots, as the queue sees it. */
export function toHolding(workload: Workload, now: Date): Holding {
  return { ...workload, devices: workload.devices ?? [], secondsLeft: secondsLeft(workload, now) };
}

/**
 * By the pace of the observed steps; unknown before the first one, or once that time has passed. The estimate of a
 * quote is no such pace: a machine that does other work is slower.
 */
function secondsLeft(
  workload: Pick<Workload, 'behaviour' | 'unit' | 'remainingSeconds' | 'lastReportAt'>,
  now: Date,
): number | null {
  const { behaviour, unit, remainingSeconds, lastReportAt } = workload;
  if (behaviour === 'deployment' || unit !== 'steps') return null;
  if (remainingSeconds === null || lastReportAt === null) return null;
  const left = remainingSeconds - (now.getTime() - lastReportAt.getTime()) / 1000;
  return left > 0 ? left : null;
}
