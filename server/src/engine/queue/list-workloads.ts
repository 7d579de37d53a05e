import type { Database } from '../../platform/db/database.ts';
import { listMachines } from '../machines/queries.ts';
import type { SpecKind } from '../model/spec-kind.ts';
import { isWithDriver, type Workload } from '../model/workload.ts';
import { assignSlots, type Decision } from './queue.ts';
import { listUnended } from './queue-queries.ts';
import { toHolding, toOfferingMachines } from './queue-rows.ts';

/** A workload that has not ended, as shown to operators, who may not see its title. */
export type ListedWorkload = Pick<Workload, 'id' | 'userId' | 'behaviour' | 'placement' | 'state'> & {
  spec: SpecKind;
  /** Why it is in this state. Never quotes output of processes or details of other work. */
  reason: string;
  /** Position in its queue, from 1; null if it is not queued. */
  position: number | null;
  /** When it entered this state. */
  since: Date;
  /** The machine that runs it; null if none does. */
  machineName: string | null;
};

type Unended = Awaited<ReturnType<typeof listUnended>>[number];

/**
 * Returns all work of the installation in this order: work with slots, oldest first; queued work; work that
 * is in no queue now. Computes positions like the queue.
 */
export async function listWorkloads({ db, now }: { db: Database; now: Date }): Promise<ListedWorkload[]> {
  const [unended, machines] = await Promise.all([listUnended(db), listMachines(db)]);
  // Operators may not read the titles of users' workloads.
  const holding = unended
    .filter((one) => one.devices !== null && !isWithDriver(one))
    .map((one) => ({ ...toHolding(one, now), title: null }));
  const decisions = new Map(
    assignSlots(unended.filter(isWaiting), holding, toOfferingMachines(machines), now).map((one) => [
      one.id,
      one,
    ]),
  );
  const names = new Map(machines.map(({ id, name }) => [id, name]));
  return unended
    .map((one) => toWork(one, decisions.get(one.id), names))
    .toSorted((a, b) => rank(a) - rank(b) || Number(a.since) - Number(b.since) || a.id.localeCompare(b.id));
}

function isWaiting({ state, wanted, devices }: Unended): boolean {
  return state === 'queued' && devices === null && wanted === 'running';
}

function toWork(one: Unended, decision: Decision | undefined, names: Map<string, string>): ListedWorkload {
  const { id, userId, behaviour, placement, state, spec, machineId } = one;
  return {
    id,
    userId,
    behaviour,
    placement,
    state,
    spec,
    reason: state === 'queued' ? whyItWaits(one, decision) : one.reason,
    position: decision?.assign === null ? decision.position : null,
    since: sinceWhen(one),
    machineName: isOnMachine(one) && machineId !== null ? (names.get(machineId) ?? null) : null,
  };
}

/** Work in a driver's own queue already belongs to a machine. */
function isOnMachine(one: Unended): boolean {
  return one.state !== 'queued' || isWithDriver(one);
}

/**
 * Returns why a workload waits. Uses the stored reason only in a driver's own queue; elsewhere it may quote
 * the output of a failed process.
 */
function whyItWaits(one: Unended, decision: Decision | undefined): string {
  const { failures } = one;
  if (isWithDriver(one)) return one.reason || 'It is about to start.';
  if (decision === undefined) return 'It was stopped before it started.';
  if (decision.assign !== null) return 'It is about to start.';
  if (decision.reason !== null) return decision.reason;
  return failures > 0
    ? `It failed ${failures === 1 ? 'once' : `${failures} times`} in a row and is started again after a pause.`
    : 'It is started again after a pause.';
}

function sinceWhen(one: Unended): Date {
  switch (one.state) {
    case 'queued':
      return one.queuedAt;
    case 'ready':
      return one.readyAt ?? one.queuedAt;
    case 'degraded':
      return one.lastReportAt ?? one.queuedAt;
    case 'stopping':
      return one.stopRequestedAt ?? one.queuedAt;
    default:
      return one.attemptStartedAt ?? one.queuedAt;
  }
}

/** Work with slots first, then the queue. */
function rank({ state, position }: ListedWorkload): number {
  if (state !== 'queued') return 0;
  return position ?? Number.MAX_SAFE_INTEGER;
}
