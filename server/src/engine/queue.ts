import { gpuLabel } from '@bakehouse/contract/limits';
import type { Gpu } from './gpu.ts';
import type { Behaviour, Placement } from './workload.ts';

type CpuSlots = `cpu:${Behaviour}`;

/**
 * Slots that are handed out together: `CpuSlots`, or the type of some GPUs. CPU slots are apart
 * for runs and deployments, so that a served model never waits for a training to end; GPUs are
 * shared by both.
 */
export type SlotClass = string;

/** What a driver's machines have: how many slots on the CPU, and which GPUs. */
export type Capacity = Partial<Record<CpuSlots, number>> & {
  gpus?: Gpu[];
  /** Whether text is served on the GPUs: there are some, and vLLM is installed. Else the CPU serves it. */
  servesTextOnGpus?: boolean;
};

export type Waiting = {
  id: string;
  userId: string | null;
  behaviour: Behaviour;
  placement: Placement;
  queuedAt: Date;
  notBefore: Date;
  expectedSeconds: number | null;
};

export type Holding = {
  id: string;
  userId: string | null;
  behaviour: Behaviour;
  placement: Placement;
  title: string;
  devices: number[];
  /** Seconds until it is expected to give its slots back; null when nobody can say. */
  secondsLeft: number | null;
};

export type Decision =
  | { id: string; assign: number[] }
  /** `reason` says which place in line, what blocks it, and an estimate. */
  | { id: string; assign: null; reason: string };

/** Which class of slots a workload takes. */
export function slotClass(workload: { behaviour: Behaviour; placement: Placement }): SlotClass {
  return workload.placement.accelerator ?? `cpu:${workload.behaviour}`;
}

/** The slots of a class by their numbers. */
export function slotNumbers(name: SlotClass, capacity: Capacity): number[] {
  if (!isCpu(name)) return capacity.gpus?.find(({ type }) => type === name)?.devices ?? [];
  return Array.from({ length: capacity[name] ?? 0 }, (_, index) => index);
}

/** The classes of slots that there are. */
export function slotClasses(capacity: Capacity): SlotClass[] {
  const onCpu: CpuSlots[] = ['cpu:run', 'cpu:deployment'];
  return [...onCpu, ...(capacity.gpus ?? []).map(({ type }) => type)];
}

function isCpu(name: SlotClass): name is CpuSlots {
  return name === 'cpu:run' || name === 'cpu:deployment';
}

/**
 * Hands free slots to those who wait, and tells the others why they wait. Pure.
 *
 * Order: whose user holds least, then who has waited longest; a user's second workload therefore
 * waits behind the first ones of everybody else. Nobody overtakes within a class, so that one who
 * needs many GPUs is not kept waiting by those who need one.
 */
export function assignSlots(
  waiting: Waiting[],
  holding: Holding[],
  capacity: Capacity,
  now: Date,
): Decision[] {
  const classes = new Set(waiting.map(slotClass));
  return [...classes].flatMap((name) =>
    assignClass(
      name,
      waiting.filter((one) => slotClass(one) === name),
      holding.filter((one) => slotClass(one) === name),
      slotNumbers(name, capacity),
      now,
    ),
  );
}

function assignClass(
  name: SlotClass,
  waiting: Waiting[],
  holding: Holding[],
  slots: number[],
  now: Date,
): Decision[] {
  const total = slots.length;
  const { resting, able } = split(waiting, now);
  const line = fairOrder(able, holding);
  const held = holding.map((one) => ({ slots: slotsOf(one), secondsLeft: one.secondsLeft }));
  const free = new Set(slots);
  for (const one of holding) for (const device of one.devices) free.delete(device);
  let freeCount = total - held.reduce((sum, one) => sum + one.slots, 0);

  const decisions: Decision[] = resting.map((one) => ({ id: one.id, assign: null, reason: '' }));
  let play: ReturnType<typeof playForward> | null = null;
  let countAhead = 0;
  for (const one of line) {
    const wants = slotsOf(one);
    if (!play && wants <= freeCount) {
      const devices = [...free].slice(0, wants);
      for (const device of devices) free.delete(device);
      freeCount -= wants;
      held.push({ slots: wants, secondsLeft: one.expectedSeconds });
      decisions.push({ id: one.id, assign: one.placement.accelerator === null ? [] : devices });
      continue;
    }
    play ??= playForward(held, freeCount);
    const waits = play(one);
    decisions.push({
      id: one.id,
      assign: null,
      reason: explain(name, one, countAhead, holding, total, waits),
    });
    countAhead += 1;
  }
  return decisions;
}

/** Those who may start, and those who rest after a failure and keep the reason that they have. */
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
 * Plays the line forward: each next one takes slots as they become free. Answers after how many
 * seconds that is, or null when one end before it is unknown; what was played stays played.
 */
function playForward(held: Hold[], freeNow: number): (next: Waiting) => number | null {
  const ends = held.map((one) => ({ ...one }));
  let free = freeNow;
  let at = 0;
  return (next) => {
    while (free < slotsOf(next)) {
      if (ends.some((end) => end.secondsLeft === null)) return null;
      const first = ends.reduce<Hold | null>((a, b) => (a && endOf(a) <= endOf(b) ? a : b), null);
      if (!first) return null;
      ends.splice(ends.indexOf(first), 1);
      at = Math.max(at, endOf(first));
      free += first.slots;
    }
    free -= slotsOf(next);
    const { expectedSeconds } = next;
    ends.push({ slots: slotsOf(next), secondsLeft: expectedSeconds === null ? null : at + expectedSeconds });
    return at;
  };
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
  if (total < slotsOf(one)) return `Waiting for ${describe(name, one)}: this installation has ${total}.`;
  const place = countAhead === 0 ? 'next in line' : `number ${countAhead + 1} in line`;
  const own = holding.find((holder) => holder.userId !== null && holder.userId === one.userId);
  const blocker = own
    ? `your '${own.title}' is using it`
    : `${holding.length} ${holding.length === 1 ? 'workload uses' : 'workloads use'} what there is`;
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
