import { gpuLabel } from '@bakehouse/contract/labels';
import type { Capacity, CpuSlots, SlotClass } from '../model/capacity.ts';
import { type Offer, specName } from '../model/offer.ts';
import type { SpecKind } from '../model/spec-kind.ts';
import type { Behaviour, Placement } from '../model/workload.ts';

export type Waiting = {
  id: string;
  userId: string | null;
  behaviour: Behaviour;
  placement: Placement;
  queuedAt: Date;
  notBefore: Date;
  spec: SpecKind;
};

/** A machine, whose slots are assigned here, or a cluster, whose driver has its own queue. */
export type OfferingMachine = { id: string } & Pick<Offer, 'capacity' | 'admission' | 'blockers'>;

export type Holding = {
  id: string;
  userId: string | null;
  behaviour: Behaviour;
  placement: Placement;
  /** Title chosen by the owner; null if others may not read it. */
  title: string | null;
  machineId: string | null;
  devices: number[];
  /** Estimated seconds until the workload releases its slots, from its observed pace; null if unknown. */
  secondsLeft: number | null;
};

export type Decision =
  | { id: string; assign: { machineId: string; devices: number[] } }
  /**
   * `reason` contains the position, what blocks the workload, and an estimate if there is one. During a pause
   * it is null, which leaves the stored reason unchanged. `position` counts from 1. It is null during a
   * pause, or if no machine can start the workload.
   */
  | { id: string; assign: null; reason: string | null; position: number | null };

/** Returns the slot class of a workload. */
function slotClass(workload: { behaviour: Behaviour; placement: Placement }): SlotClass {
  return workload.placement.accelerator ?? `cpu:${workload.behaviour}`;
}

/** Returns the indexes of a class's slots on one machine; for a cluster, on the node with the most. */
function slotNumbers(name: SlotClass, capacity: Capacity): number[] {
  if (!isCpu(name)) {
    const ofType = (capacity.gpus ?? []).filter(({ type }) => type === name);
    return ofType.reduce<number[]>(
      (most, { devices }) => (devices.length > most.length ? devices : most),
      [],
    );
  }
  return Array.from({ length: capacity[name] ?? 0 }, (_, index) => index);
}

/** Returns all slot classes. */
export function slotClasses(capacity: Capacity): SlotClass[] {
  return [
    ...new Set<string>(['cpu:run', 'cpu:deployment', ...(capacity.gpus ?? []).map(({ type }) => type)]),
  ];
}

/** Returns true for classes of CPU slots. */
function isCpu(name: SlotClass): name is CpuSlots {
  return name === 'cpu:run' || name === 'cpu:deployment';
}

/**
 * Assigns free slots to waiting workloads, and tells the others why they wait.
 *
 * Order: users who hold fewer slots come first, then who has waited longest. So a user's second workload
 * waits behind the first ones of all other users. On the machine, nothing overtakes a workload that does not
 * fit yet; otherwise small requests would starve requests for many GPUs. Work that does not fit on the
 * machine now goes to the cluster if the cluster could ever hold it.
 *
 * Deterministic: the engines of the machine and of the cluster make the same decisions, and each engine
 * executes its own.
 */
export function assignSlots(
  waiting: Waiting[],
  holding: Holding[],
  machines: OfferingMachine[],
  now: Date,
): Decision[] {
  const classes = new Set(waiting.map(slotClass));
  return [...classes].flatMap((name) =>
    assignClass(
      name,
      waiting.filter((one) => slotClass(one) === name),
      holding.filter((one) => slotClass(one) === name),
      machines,
      now,
    ),
  );
}

function assignClass(
  name: SlotClass,
  waiting: Waiting[],
  holding: Holding[],
  machines: OfferingMachine[],
  now: Date,
): Decision[] {
  const { resting, able } = split(waiting, now);
  const own = machines.find(({ admission }) => admission === 'slots');
  const line = own ? lineOf(name, own, holding) : null;
  const most = Math.max(0, ...machines.map(({ capacity }) => slotNumbers(name, capacity).length));
  const decisions: Decision[] = resting.map((one) => ({
    id: one.id,
    assign: null,
    reason: null,
    position: null,
  }));
  let countAhead = 0;
  for (const one of fairOrder(able, holding)) {
    const fitting = machines.filter(({ capacity }) => slotNumbers(name, capacity).length >= slotsOf(one));
    const open = fitting.filter((machine) => blockerOf(one, machine) === null);
    const [closed] = fitting;
    if (closed && open.length === 0) {
      decisions.push({ id: one.id, assign: null, reason: blockerOf(one, closed), position: null });
      continue;
    }
    const inLine = open.some(({ id }) => id === own?.id) ? line : null;
    const devices = inLine && reserve(inLine, one);
    if (own && devices) {
      decisions.push({ id: one.id, assign: { machineId: own.id, devices } });
      continue;
    }
    const cluster = open.find(({ admission }) => admission === 'driver');
    if (cluster) {
      decisions.push({ id: one.id, assign: { machineId: cluster.id, devices: [] } });
      continue;
    }
    const reason = inLine
      ? explain(name, one, countAhead, inLine.holding, estimateStart(inLine, one))
      : `Waiting for ${describe(name, one)}: this server has ${most || 'none'}.`;
    decisions.push({ id: one.id, assign: null, reason, position: countAhead + 1 });
    countAhead += 1;
  }
  return decisions;
}

/** Slots of a class on the machine, while they are being assigned. */
type Line = {
  /** Workloads that hold slots of this class. */
  holding: Holding[];
  total: number;
  /** Indexes of free slots. On the CPU only their number matters. */
  free: number[];
  /** Held slots, and when they are released. */
  held: Hold[];
  /** True once a workload waits for these slots; others must not overtake it. */
  isReserved: boolean;
};

function lineOf(name: SlotClass, { id, capacity }: OfferingMachine, all: Holding[]): Line {
  const numbers = slotNumbers(name, capacity);
  const holding = all.filter(({ machineId }) => machineId === id);
  const taken = new Set(holding.flatMap(({ devices }) => devices));
  // CPU slots have no identity; only their number counts.
  const free = isCpu(name)
    ? numbers.slice(Math.min(holding.length, numbers.length))
    : numbers.filter((number) => !taken.has(number));
  const held = holding.map((one) => ({ slots: slotsOf(one), secondsLeft: one.secondsLeft }));
  return { holding, total: numbers.length, free, held, isReserved: false };
}

/** Returns why the workload cannot start on this machine even with free slots, or null. */
function blockerOf({ spec }: Waiting, { blockers }: OfferingMachine): string | null {
  const blocker = blockers[specName(spec)];
  return blocker === undefined ? 'No machine runs work of this kind yet.' : blocker;
}

/** Takes free slots and returns their indexes. Returns null if there are too few, or if they are reserved. */
function reserve(line: Line, one: Waiting): number[] | null {
  if (line.isReserved || line.free.length < slotsOf(one)) return null;
  const devices = line.free.splice(0, slotsOf(one));
  line.held.push({ slots: slotsOf(one), secondsLeft: null });
  return one.placement.accelerator === null ? [] : devices;
}

/** Separates workloads that may start from those that pause after a failure. */
function split(waiting: Waiting[], now: Date): { resting: Waiting[]; able: Waiting[] } {
  return {
    resting: waiting.filter((one) => one.notBefore > now),
    able: waiting.filter((one) => one.notBefore <= now),
  };
}

function fairOrder(waiting: Waiting[], holding: Holding[]): Waiting[] {
  const turns = new Map<string | null, number>();
  for (const one of holding) turns.set(one.userId, (turns.get(one.userId) ?? 0) + slotsOf(one));
  return [...waiting]
    .sort((a, b) => a.queuedAt.getTime() - b.queuedAt.getTime() || a.id.localeCompare(b.id))
    .map((one) => {
      const turn = turns.get(one.userId) ?? 0;
      turns.set(one.userId, turn + slotsOf(one));
      return { one, turn };
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ one }) => one);
}

function slotsOf({ placement }: { placement: Placement }): number {
  return placement.accelerator === null ? 1 : placement.count;
}

type Hold = { slots: number; secondsLeft: number | null };

/**
 * Estimates the seconds until the next workload can start, if nothing overtakes it: it takes slots as soon as
 * enough are released. Returns null if it depends on a workload whose end is unknown, such as one that has
 * not begun. Mutates the simulated slots.
 */
function estimateStart(line: Line, next: Waiting): number | null {
  line.isReserved = true;
  const left = [...line.held];
  let free = line.total - left.reduce((sum, one) => sum + one.slots, 0);
  let at = 0;
  while (free < slotsOf(next)) {
    if (left.some((one) => one.secondsLeft === null)) return null;
    const first = left.reduce<Hold | null>((a, b) => (a && endOf(a) <= endOf(b) ? a : b), null);
    if (!first) return null;
    left.splice(left.indexOf(first), 1);
    at = Math.max(at, endOf(first));
    free += first.slots;
  }
  line.held = [...left, { slots: slotsOf(next), secondsLeft: null }];
  return at;
}

function endOf({ secondsLeft }: Hold): number {
  return secondsLeft ?? 0;
}

function explain(
  name: SlotClass,
  one: Waiting,
  countAhead: number,
  holding: Holding[],
  seconds: number | null,
): string {
  const place = countAhead === 0 ? 'next in line' : `number ${countAhead + 1} in line`;
  const own = holding.find(({ userId, title }) => {
    return userId !== null && userId === one.userId && title !== null;
  });
  const blocker = own
    ? `your '${own.title}' is using it`
    : `${holding.length} ${holding.length === 1 ? 'workload is' : 'workloads are'} using all available slots`;
  const estimate =
    seconds === null ? '' : seconds === 0 ? ' Free soon.' : ` Free in about ${describeSeconds(seconds)}.`;
  return `Waiting for ${describe(name, one)}, ${place}: ${blocker}.${estimate}`;
}

function describe(name: SlotClass, { placement }: Waiting): string {
  if (placement.accelerator === null) return name === 'cpu:run' ? 'the CPU' : 'a serving slot';
  return `${placement.count} x ${gpuLabel(name)}`;
}

/**
 * 90 -> '2 min', 2200 -> '35 min'. As coarse as the estimate itself, so that the text does not jump: at least
 * a minute, steps of five from ten minutes on, hours from 90 minutes on.
 */
function describeSeconds(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 10) return `${minutes} min`;
  return minutes < 90 ? `${5 * Math.round(minutes / 5)} min` : `${Math.round(minutes / 60)} h`;
}

/** Returns the number of slots of a class. */
export function countSlots(name: SlotClass, capacity: Capacity): number {
  if (isCpu(name)) return capacity[name] ?? 0;
  const gpus = (capacity.gpus ?? []).filter(({ type }) => type === name);
  return gpus.reduce((sum, { devices, machines = 1 }) => sum + devices.length * machines, 0);
}
