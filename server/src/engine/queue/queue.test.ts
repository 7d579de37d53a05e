import { describe, expect, test } from 'vitest';
import type { Capacity } from '../model/capacity.ts';
import { listed, unlisted } from '../testing/test-gpus.ts';
import { countSlots } from './count-slots.ts';
import { assignSlots as assignOnMachines, type Holding, type Waiting } from './queue.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const cpu = { accelerator: null, count: 0 } as const;
const gpus = (count: number) => ({ accelerator: 'NVIDIA_H100_80GB', count }) as const;

const ready = { train: null };
/** On one machine that can run everything. */
const assignSlots = (line: Waiting[], held: Holding[], capacity: Capacity, at: Date) =>
  assignOnMachines(line, held, [{ id: 'one', capacity, admission: 'slots', blockers: ready }], at);

const waiting = (id: string, more: Partial<Waiting> = {}): Waiting => ({
  id,
  userId: 'ada',
  behaviour: 'run',
  placement: cpu,
  queuedAt: ago(1),
  notBefore: ago(1),
  boundTo: null,
  spec: { kind: 'train', engine: null },
  ...more,
});
const holding = (id: string, more: Partial<Holding> = {}): Holding => ({
  id,
  userId: 'ada',
  behaviour: 'run',
  placement: cpu,
  title: `model ${id}`,
  machineId: 'one',
  devices: [],
  secondsLeft: 300,
  ...more,
});
const assigned = (decisions: ReturnType<typeof assignSlots>) =>
  decisions.filter((decision) => decision.assign !== null).map(({ id }) => id);
const reasonOf = (decisions: ReturnType<typeof assignSlots>, id: string) =>
  decisions.find((decision) => decision.id === id && decision.assign === null);

describe('assignSlots', () => {
  test('hands out what is free, the longest wait first', () => {
    const line = [waiting('b', { queuedAt: ago(1) }), waiting('a', { queuedAt: ago(2) })];
    expect(assigned(assignSlots(line, [], { 'cpu:run': 1 }, now))).toEqual(['a']);
    expect(assigned(assignSlots(line, [], { 'cpu:run': 2 }, now))).toEqual(['a', 'b']);
  });

  test('goes round the users', () => {
    const line = [
      waiting('a1', { queuedAt: ago(9) }),
      waiting('a2', { queuedAt: ago(8) }),
      waiting('a3', { queuedAt: ago(7) }),
      waiting('b1', { userId: 'bob', queuedAt: ago(2) }),
      waiting('c1', { userId: 'cy', queuedAt: ago(1) }),
    ];
    expect(assigned(assignSlots(line, [], { 'cpu:run': 5 }, now))).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
    // Who holds a slot already waits behind those who hold none.
    expect(assigned(assignSlots(line, [holding('a0')], { 'cpu:run': 2 }, now))).toEqual(['b1']);
  });

  test('a served model does not wait for a training', () => {
    const decisions = assignSlots(
      [waiting('server', { behaviour: 'deployment', userId: null })],
      [holding('run')],
      { 'cpu:run': 1, 'cpu:deployment': 1 },
      now,
    );
    expect(assigned(decisions)).toEqual(['server']);
  });

  test('says what blocks, which place, and how long', () => {
    const line = [
      waiting('first', { queuedAt: ago(3) }),
      waiting('second', { userId: 'bob', queuedAt: ago(2) }),
    ];
    const decisions = assignSlots(line, [holding('x', { userId: 'cy' })], { 'cpu:run': 1 }, now);
    expect(reasonOf(decisions, 'first')).toMatchObject({
      reason:
        'Waiting for the CPU, next in line: 1 workload is using all available slots. Free in about 5 min.',
    });
    expect(reasonOf(decisions, 'second')).toMatchObject({
      reason: 'Waiting for the CPU, number 2 in line: 1 workload is using all available slots.',
    });
    const long = assignSlots(
      line,
      [holding('x', { userId: 'cy', secondsLeft: 37.4 * 60 })],
      { 'cpu:run': 1 },
      now,
    );
    expect(reasonOf(long, 'first')).toMatchObject({ reason: expect.stringContaining('about 35 min') });
  });

  test('names what blocks only to the one whose it is', () => {
    const decisions = assignSlots(
      [waiting('mine'), waiting('other', { userId: 'bob' })],
      [holding('x')],
      { 'cpu:run': 1 },
      now,
    );
    expect(reasonOf(decisions, 'mine')).toMatchObject({
      reason: expect.stringContaining("your 'model x' is using it"),
    });
    expect(reasonOf(decisions, 'other')).toMatchObject({ reason: expect.not.stringContaining('model x') });
  });

  test('gives no estimate where nobody can know', () => {
    const decisions = assignSlots(
      [waiting('a')],
      [holding('x', { secondsLeft: null })],
      { 'cpu:run': 1 },
      now,
    );
    expect(reasonOf(decisions, 'a')).toMatchObject({ reason: expect.not.stringContaining('Free in') });
  });

  test('hands out GPUs by number, and nobody overtakes one who needs many', () => {
    const held = holding('x', { placement: gpus(1), devices: [1] });
    const capacity = { gpus: [listed('NVIDIA_H100_80GB', [0, 1, 2, 3])] };
    expect(assignSlots([waiting('two', { placement: gpus(2) })], [held], capacity, now)).toEqual([
      { id: 'two', assign: { machineId: 'one', devices: [0, 2] } },
    ]);
    const four = waiting('four', { placement: gpus(4), queuedAt: ago(5), userId: 'bob' });
    const one = waiting('one', { placement: gpus(1), userId: 'cy' });
    expect(assigned(assignSlots([one, four], [held], capacity, now))).toEqual([]);
    expect(assigned(assignSlots([one, four], [], capacity, now))).toEqual(['four']);
  });

  test('knows GPUs by the numbers of their machine, which may mix types', () => {
    const rtx = 'NVIDIA GeForce RTX 4090';
    const capacity = { gpus: [unlisted(rtx, 24, [0, 2]), listed('NVIDIA_H100_80GB', [1, 3])] };
    const held = holding('x', { placement: gpus(1), devices: [1] });
    const line = [
      waiting('h100', { placement: gpus(1) }),
      waiting('rtx', { placement: { accelerator: rtx, count: 2 }, userId: 'bob' }),
    ];
    expect(assignSlots(line, [held], capacity, now)).toEqual([
      { id: 'h100', assign: { machineId: 'one', devices: [3] } },
      { id: 'rtx', assign: { machineId: 'one', devices: [0, 2] } },
    ]);
  });

  test('says so when there will never be enough', () => {
    const decisions = assignSlots(
      [waiting('a', { placement: gpus(8) })],
      [],
      { gpus: [listed('NVIDIA_H100_80GB', [0, 1, 2, 3])] },
      now,
    );
    expect(reasonOf(decisions, 'a')).toMatchObject({
      reason: 'Waiting for 8 x NVIDIA H100 (80GB): this server has 4.',
    });
    expect(reasonOf(assignSlots([waiting('a', { placement: gpus(8) })], [], {}, now), 'a')).toMatchObject({
      reason: 'Waiting for 8 x NVIDIA H100 (80GB): this server has none.',
    });
  });

  test('one that rests after a failure keeps its reason and lets others pass', () => {
    const decisions = assignSlots(
      [waiting('a', { notBefore: new Date(now.getTime() + 5000), queuedAt: ago(9) }), waiting('b')],
      [],
      { 'cpu:run': 1 },
      now,
    );
    expect(decisions).toContainEqual({ id: 'a', assign: null, reason: null, position: null });
    expect(assigned(decisions)).toEqual(['b']);
  });
});

describe('several machines', () => {
  const two = { id: 'two', capacity: { 'cpu:run': 2 }, admission: 'slots', blockers: ready } as const;
  const one = { id: 'one', capacity: { 'cpu:run': 1 }, admission: 'slots', blockers: ready } as const;
  const places = (decisions: ReturnType<typeof assignOnMachines>) =>
    Object.fromEntries(decisions.map(({ id, assign }) => [id, assign?.machineId ?? null]));

  test('share one line: the longest wait first, where there is most room', () => {
    const line = ['a', 'b', 'c', 'd'].map((id, index) =>
      waiting(id, { userId: id, queuedAt: ago(9 - index) }),
    );
    const decisions = assignOnMachines(line, [], [one, two], now);
    expect(places(decisions)).toEqual({ a: 'two', b: 'one', c: 'two', d: null });
    expect(reasonOf(decisions, 'd')).toMatchObject({ reason: expect.not.stringContaining('Free in') });
    // What one holds counts for its turn, wherever that is.
    const held = holding('x', { userId: 'a', machineId: 'one' });
    expect(places(assignOnMachines(line, [held], [one, two], now))).toEqual({
      b: 'two',
      c: 'two',
      d: null,
      a: null,
    });
  });

  test('what has its files on one waits for that one, and others pass', () => {
    const line = [waiting('bound', { boundTo: 'one', queuedAt: ago(9) }), waiting('free', { userId: 'bob' })];
    const held = holding('x', { machineId: 'one', userId: 'cy' });
    expect(places(assignOnMachines(line, [held], [one, two], now))).toEqual({ bound: null, free: 'two' });
    const away = assignOnMachines(line, [], [two], now);
    expect(places(away)).toEqual({ bound: null, free: 'two' });
    expect(reasonOf(away, 'bound')).toMatchObject({ reason: expect.stringContaining('out of reach') });
    const placement = { accelerator: 'NVIDIA H100', count: 1 };
    const lost = assignOnMachines([waiting('bound', { boundTo: 'one', placement })], [], [one, two], now);
    expect(reasonOf(lost, 'bound')).toMatchObject({
      reason: 'Waiting for the machine that has its files: it has not enough of the GPUs at present.',
      position: null,
    });
  });

  test('one that cannot start such work yet is passed by; where none can, that is the reason', () => {
    const preparing = { ...two, blockers: { train: 'Still being prepared' } };
    expect(places(assignOnMachines([waiting('a')], [], [preparing, one], now))).toEqual({ a: 'one' });
    expect(reasonOf(assignOnMachines([waiting('a')], [], [preparing], now), 'a')).toMatchObject({
      reason: 'Still being prepared',
    });
  });

  test('a driver with a queue of its own takes what the slots of others have no room for', () => {
    const cluster = { ...one, id: 'cluster', admission: 'driver' } as const;
    const line = ['a', 'b', 'c'].map((id, index) => waiting(id, { userId: id, queuedAt: ago(9 - index) }));
    const decisions = assignOnMachines(line, [], [one, cluster], now);
    expect(places(decisions)).toEqual({ a: 'one', b: 'cluster', c: 'cluster' });
    expect(decisions[1]).toMatchObject({ assign: { devices: [] } });
  });

  test('a cluster takes what one of its machines could hold, however many it has together', () => {
    const ofNode = (numbers: number[], machines: number) => ({
      ...listed('NVIDIA_H100_80GB', numbers),
      machines,
    });
    const cluster = {
      ...{ id: 'cluster', admission: 'driver' as const, blockers: ready },
      capacity: { gpus: [ofNode([0, 1], 100), ofNode([0, 1, 2, 3], 2)] },
    };
    const line = [4, 8].map((count) => waiting(`${count}`, { placement: gpus(count), userId: `${count}` }));
    expect(places(assignOnMachines(line, [], [cluster], now))).toEqual({ 4: 'cluster', 8: null });
    expect(countSlots('NVIDIA_H100_80GB', cluster.capacity)).toBe(208);
  });

  test('GPUs of one workload are on one machine, and who needs many is overtaken only where it cannot run', () => {
    const h100 = (id: string, devices: number[]) => ({
      id,
      capacity: { gpus: [listed('NVIDIA_H100_80GB', devices)] },
      admission: 'slots' as const,
      blockers: ready,
    });
    const line = [
      waiting('four', { placement: gpus(4), queuedAt: ago(9) }),
      waiting('single', { placement: gpus(1), userId: 'bob' }),
    ];
    const held = holding('x', { placement: gpus(1), devices: [0], machineId: 'large', userId: 'cy' });
    const machines = [h100('large', [0, 1, 2, 3]), h100('small', [0, 1])];
    expect(places(assignOnMachines(line, [held], machines, now))).toEqual({ four: null, single: 'small' });
  });

  test('a large job keeps one machine free for itself, the first to drain, and the rest of the fleet works on', () => {
    const machines = Array.from({ length: 100 }, (_, index) => ({
      id: `m${index}`,
      capacity: { gpus: [listed('NVIDIA_H100_80GB', [0, 1, 2, 3, 4, 5, 6, 7])] },
      admission: 'slots' as const,
      blockers: ready,
    }));
    const held = machines.map(({ id }, index) =>
      holding(`h${index}`, {
        placement: gpus(1),
        devices: [0],
        machineId: id,
        userId: `holder ${index}`,
        secondsLeft: id === 'm7' ? 60 : 600,
      }),
    );
    const line = [
      waiting('large', { placement: gpus(8), queuedAt: ago(9) }),
      ...Array.from({ length: 500 }, (_, index) =>
        waiting(`small ${index}`, { placement: gpus(1), userId: `user ${index}` }),
      ),
    ];
    const decisions = assignOnMachines(line, held, machines, now);
    expect(assigned(decisions)).toHaveLength(500);
    expect(new Set(Object.values(places(decisions)))).not.toContain('m7');
    expect(reasonOf(decisions, 'large')).toMatchObject({
      reason: expect.stringContaining('Free in about 1 min'),
    });

    // Where nobody knows when, it is the freest.
    const more = held
      .filter(({ machineId }) => machineId !== 'm9')
      .map((holder) => ({ ...holder, placement: gpus(2), devices: [0, 1], secondsLeft: null }));
    const few = { ...(held[9] as Holding), secondsLeft: null };
    const blind = assignOnMachines(line, [...more, few], machines, now);
    expect(assigned(blind)).toHaveLength(500);
    expect(new Set(Object.values(places(blind)))).not.toContain('m9');
  });

  test('a large job waits for no machine that a deployment keeps while another one drains', () => {
    const machines = ['serving', 'training'].map((id) => ({
      id,
      capacity: { gpus: [listed('NVIDIA_H100_80GB', [0, 1, 2, 3])] },
      admission: 'slots' as const,
      blockers: ready,
    }));
    const served = holding('served', {
      behaviour: 'deployment',
      placement: gpus(1),
      devices: [0],
      machineId: 'serving',
      userId: 'ben',
      secondsLeft: null,
    });
    // It is in its first minute.
    const trained = holding('trained', {
      placement: gpus(2),
      devices: [0, 1],
      machineId: 'training',
      userId: 'dan',
      secondsLeft: null,
    });
    const line = [
      waiting('large', { placement: gpus(4), queuedAt: ago(9) }),
      ...['a', 'b', 'c', 'd'].map((id) => waiting(id, { placement: gpus(1), userId: id })),
    ];
    const small = { a: 'serving', b: 'serving', c: 'serving' };
    expect(places(assignOnMachines(line, [served, trained], machines, now))).toEqual({
      large: null,
      ...small,
      d: null,
    });

    // Nor once somebody else waits for that one.
    const both = [waiting('larger', { placement: gpus(4), queuedAt: ago(10), userId: 'eve' }), ...line];
    expect(places(assignOnMachines(both, [served, trained], machines, now))).toMatchObject(small);

    // Where a deployment keeps each of them, any may be the first.
    const [all, freest] = [{ ...trained, behaviour: 'deployment' as const }, machines[0]?.id];
    const decided = places(assignOnMachines(line, [served, all], machines, now));
    expect(Object.values(decided)).not.toContain(freest);
  });

  test('two large jobs keep a machine each', () => {
    const machines = ['a', 'b', 'c'].map((id) => ({
      id,
      capacity: { gpus: [listed('NVIDIA_H100_80GB', [0, 1])] },
      admission: 'slots' as const,
      blockers: ready,
    }));
    const held = machines.map(({ id }, index) =>
      holding(id, { placement: gpus(1), devices: [0], machineId: id, secondsLeft: 60 * (index + 1) }),
    );
    const line = ['first', 'second'].map((id, index) =>
      waiting(id, { placement: gpus(2), userId: id, queuedAt: ago(9 - index) }),
    );
    const decisions = assignOnMachines(
      [...line, waiting('small', { placement: gpus(1), userId: 'cy' })],
      held,
      machines,
      now,
    );
    expect(places(decisions)).toEqual({ first: null, second: null, small: 'c' });
  });
});
