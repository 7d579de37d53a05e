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
  /** The machine with its checkpoints, the only one where it can continue; null: any machine will do. */
  boundTo: string | null;
  spec: SpecKind;
};

/** A machine that hands out its slots. */
export type OfferingMachine = { id: string } & Pick<Offer, 'capacity' | 'admission' | 'blockers'>;

export type Holding = {
  id: string;
  userId: string | null;
  behaviour: Behaviour;
  placement: Placement;
  /** The name that its owner gave it; null where others may not read that. */
  title: string | null;
  machineId: string | null;
  devices: number[];
  /** Estimated seconds until it gives its slots back, at the observed pace; null when unknown. */
  secondsLeft: number | null;
};

export type Decision =
  | { id: string; assign: { machineId: string; devices: number[] } }
  /**
   * `reason` says its place in line, what blocks it, and an estimate where there is one; null: it rests, and keeps
   * the reason that it has. `position` is that place, from 1 on; null: it is in no line, as no machine would start
   * it, or it rests.
   */
  | { id: string; assign: null; reason: string | null; position: number | null };

/** Which class of slots a workload takes. */
export function slotClass(workload: { behaviour: Behaviour; placement: Placement }): SlotClass {
  return workload.placement.accelerator ?? `cpu:${workload.behaviour}`;
}

/** The slots of a class on one machine by their numbers; of a cluster, those of the machine with most. */
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

/** The classes of slots that there are. */
export function slotClasses(capacity: Capacity): SlotClass[] {
  return [
    ...new Set<string>(['cpu:run', 'cpu:deployment', ...(capacity.gpus ?? []).map(({ type }) => type)]),
  ];
}

/** Whether slots of a class are processors, not GPUs. */
export function isCpu(name: SlotClass): name is CpuSlots {
  return name === 'cpu:run' || name === 'cpu:deployment';
}

/**
 * Hands free slots to waiting workloads, and tells the others why they wait. Pure: the servers of all machines come
 * to the same decisions, and each carries out those for its own machine.
 *
 * Order: by how few slots the workload's user holds, then by how long it has waited; a user's second workload
 * therefore waits behind the first ones of all others. A workload that finds no room waits for the machine that will
 * first have room, and is not overtaken there, so that one that needs many GPUs is not delayed by those that need
 * one; on other machines those go on. Among machines with room the one with most is chosen; where none has room, one
 * whose driver has its own queue takes what it could ever hold.
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
  const places = machines.map((machine) => placeOf(name, machine, holding));
  const most = Math.max(0, ...places.map(({ total }) => total));
  const decisions: Decision[] = resting.map((one) => ({
    id: one.id,
    assign: null,
    reason: null,
    position: null,
  }));
  let countAhead = 0;
  for (const one of fairOrder(able, holding)) {
    const fitting = places.filter((place) => mayUse(one, place));
    const open = fitting.filter((place) => blockerOf(one, place) === null);
    const reason = open.length > 0 ? null : explainClosed(one, fitting, machines);
    if (reason !== null) {
      decisions.push({ id: one.id, assign: null, reason, position: null });
      continue;
    }
    const [best] = open
      .filter(({ machine, isReserved, free }) => {
        return machine.admission === 'slots' && !isReserved && free.length >= slotsOf(one);
      })
      .toSorted((a, b) => b.free.length - a.free.length);
    if (best) {
      const devices = take(best, one);
      decisions.push({ id: one.id, assign: { machineId: best.machine.id, devices } });
      continue;
    }
    const [queueing] = open.filter(({ machine }) => machine.admission === 'driver');
    if (queueing) {
      decisions.push({ id: one.id, assign: { machineId: queueing.machine.id, devices: [] } });
      continue;
    }
    const { place, seconds } = playForward(open, one);
    if (place) place.isReserved = true;
    decisions.push({
      id: one.id,
      assign: null,
      reason: explain(name, one, countAhead, holding, most, seconds),
      position: countAhead + 1,
    });
    countAhead += 1;
  }
  return decisions;
}

/** The slots of a class on one machine, while they are handed out. */
type Place = {
  machine: OfferingMachine;
  total: number;
  /** Their numbers; on the CPU only the count matters. */
  free: number[];
  /** The slots that are taken, and when they become free. */
  held: Hold[];
  /** A workload waits for it, and is not overtaken. */
  isReserved: boolean;
};

function placeOf(name: SlotClass, machine: OfferingMachine, holding: Holding[]): Place {
  const numbers = slotNumbers(name, machine.capacity);
  const own = holding.filter(({ machineId }) => machineId === machine.id);
  const taken = new Set(own.flatMap(({ devices }) => devices));
  // CPU slots have no fixed numbers: any free ones are taken.
  const free = isCpu(name)
    ? numbers.slice(Math.min(own.length, numbers.length))
    : numbers.filter((number) => !taken.has(number));
  const held = own.map((one) => holdOf(one, one.secondsLeft));
  return { machine, total: numbers.length, free, held, isReserved: false };
}

/** Whether it could ever run there. */
function mayUse(one: Waiting, { machine, total }: Place): boolean {
  return total >= slotsOf(one) && (one.boundTo === null || one.boundTo === machine.id);
}

/** What keeps it from starting there, apart from slots; null: nothing. */
function blockerOf({ spec }: Waiting, { machine }: Place): string | null {
  const blocker = machine.blockers[specName(spec)];
  return blocker === undefined ? 'No machine runs work of this kind yet.' : blocker;
}

/** Why no machine will do at present, apart from slots; null: all have too few slots. */
function explainClosed(one: Waiting, fitting: Place[], machines: OfferingMachine[]): string | null {
  const [first] = fitting;
  if (first) return blockerOf(one, first);
  if (one.boundTo === null) return null;
  const missing = machines.some(({ id }) => id === one.boundTo)
    ? `it has not enough ${isCpu(slotClass(one)) ? 'places for runs' : 'of the GPUs'} at present`
    : 'it is out of reach at present';
  return `Waiting for the machine that has its files: ${missing}.`;
}

function take(place: Place, one: Waiting): number[] {
  const devices = place.free.splice(0, slotsOf(one));
  place.held.push(holdOf(one, null));
  return one.placement.accelerator === null ? [] : devices;
}

/** Workloads that may start, and those that rest after a failure and keep their reason. */
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

/** `ends`: it gives its slots back by itself. A deployment may keep them forever. */
type Hold = { slots: number; secondsLeft: number | null; ends: boolean };

function holdOf(one: Pick<Waiting, 'behaviour' | 'placement'>, secondsLeft: number | null): Hold {
  return { slots: slotsOf(one), secondsLeft, ends: one.behaviour !== 'deployment' };
}

/**
 * Simulates the line: the next workload takes slots where they become free first. Returns that machine and after how
 * many seconds; null seconds when an end before it is unknown, as for work that has not begun here: then it waits for
 * the machine with most room that no other waits for, among those that will have room if there are any. Changes the
 * simulated slots.
 */
function playForward(places: Place[], next: Waiting): { place: Place | undefined; seconds: number | null } {
  const plays = places.map((place) => ({ place, ...waitFor(place, slotsOf(next)) }));
  const [first] = plays.filter((play) => play.at !== null).toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
  if (!first || first.at === null) {
    const draining = places.filter((place) => willHaveRoom(place, slotsOf(next)));
    const [place] = (draining.length > 0 ? draining : places)
      .filter(({ isReserved }) => !isReserved)
      .toSorted((a, b) => b.free.length - a.free.length);
    return { place, seconds: null };
  }
  first.place.held = [...first.left, holdOf(next, null)];
  return { place: first.place, seconds: first.at };
}

/** Whether so many slots of a machine are free once all that ends there has ended. */
function willHaveRoom({ total, held }: Place, slots: number): boolean {
  const kept = held.filter(({ ends }) => !ends).reduce((sum, one) => sum + one.slots, 0);
  return total - kept >= slots;
}

/** When so many slots of a machine are free, and what is still held then. */
function waitFor(place: Place, slots: number): { at: number | null; left: Hold[] } {
  const left = [...place.held];
  let free = place.total - left.reduce((sum, one) => sum + one.slots, 0);
  let at = 0;
  while (free < slots) {
    if (left.some((one) => one.secondsLeft === null)) return { at: null, left };
    const first = left.reduce<Hold | null>((a, b) => (a && endOf(a) <= endOf(b) ? a : b), null);
    if (!first) return { at: null, left };
    left.splice(left.indexOf(first), 1);
    at = Math.max(at, endOf(first));
    free += first.slots;
  }
  return { at, left };
}

function endOf({ secondsLeft }: Hold): number {
  return secondsLeft ?? 0;
}

function explain(
  name: SlotClass,
  one: Waiting,
  countAhead: number,
  holding: Holding[],
  total: number,
  seconds: number | null,
): string {
  if (total < slotsOf(one)) return `Waiting for ${describe(name, one)}: this server has ${total || 'none'}.`;
  const place = countAhead === 0 ? 'next in line' : `number ${countAhead + 1} in line`;
  const own = holding.find(({ userId, title }) => {
    return userId !== null && userId === one.userId && title !== null;
  });
  const blocker = own
    ? `your '${own.title}' is using it`
    : `${holding.length} ${holding.length === 1 ? 'workload is' : 'workloads are'} using all available slots`;
  const estimate = seconds === null ? '' : ` Free in about ${describeSeconds(seconds)}.`;
  return `Waiting for ${describe(name, one)}, ${place}: ${blocker}.${estimate}`;
}

function describe(name: SlotClass, { placement }: Waiting): string {
  if (placement.accelerator === null) return name === 'cpu:run' ? 'the CPU' : 'a serving slot';
  return `${placement.count} x ${gpuLabel(name)}`;
}

/**
 * 90 -> '2 min', 2200 -> '35 min'. As coarse as the estimate is, so that it does not jump under the
 * reader's eyes: never less than a minute, steps of five from ten minutes on, hours from 90 minutes on.
 */
function describeSeconds(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 10) return `${minutes} min`;
  return minutes < 90 ? `${5 * Math.round(minutes / 5)} min` : `${Math.round(minutes / 60)} h`;
}
