import { describe, expect, test } from 'vitest';
import type { Capacity } from '../model/capacity.ts';
import { listed, unlisted } from '../testing/test-gpus.ts';
import { assignSlots as assignOnMachines, countSlots, type Holding, type Waiting } from './queue.ts';

const now = new Date('2026-01-01T12:00:00Z');
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const cpu = { accelerator: null, count: 0 } as const;
const gpus = (count: number) => ({ accelerator: 'NVIDIA_H100_80GB', count }) as const;

const ready = { train: null };
/** One machine that can run everything. */
const assignSlots = (line: Waiting[], held: Holding[], capacity: Capacity, at: Date) =>
  assignOnMachines(line, held, [{ id: 'one', capacity, admission: 'slots', blockers: ready }], at);

const waiting = (id: string, more: Partial<Waiting> = {}): Waiting => ({
  id,
  userId: 'ada',
  behaviour: 'run',
  placement: cpu,
  queuedAt: ago(1),
  notBefore: ago(1),
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
  test('assigns free slots, longest wait first', () => {
    const line = [waiting('b', { queuedAt: ago(1) }), waiting('a', { queuedAt: ago(2) })];
    expect(assigned(assignSlots(line, [], { 'cpu:run': 1 }, now))).toEqual(['a']);
    expect(assigned(assignSlots(line, [], { 'cpu:run': 2 }, now))).toEqual(['a', 'b']);
  });

  test('round-robins between users', () => {
    const line = [
      waiting('a1', { queuedAt: ago(9) }),
      waiting('a2', { queuedAt: ago(8) }),
      waiting('a3', { queuedAt: ago(7) }),
      waiting('b1', { userId: 'bob', queuedAt: ago(2) }),
      waiting('c1', { userId: 'cy', queuedAt: ago(1) }),
    ];
    expect(assigned(assignSlots(line, [], { 'cpu:run': 5 }, now))).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
    // Users who hold a slot come after users who hold none.
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

  test('reports what blocks, the position, and the estimated wait', () => {
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

  test('names the blocking work only to its owner', () => {
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

  test('gives no estimate if the end is unknown', () => {
    const decisions = assignSlots(
      [waiting('a')],
      [holding('x', { secondsLeft: null })],
      { 'cpu:run': 1 },
      now,
    );
    expect(reasonOf(decisions, 'a')).toMatchObject({ reason: expect.not.stringContaining('Free in') });
  });

  test('says that a run which takes longer than estimated ends soon', () => {
    const decisions = assignSlots([waiting('a')], [holding('x', { secondsLeft: 0 })], { 'cpu:run': 1 }, now);
    expect(reasonOf(decisions, 'a')).toMatchObject({ reason: expect.stringMatching(/ Free soon\.$/) });
  });

  test('assigns GPUs by index, and never lets work overtake a request for many GPUs', () => {
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

  test('uses the GPU indexes of a machine with mixed types', () => {
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

  test('reports if there will never be enough slots', () => {
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

  test('work in a pause after a failure retains its reason and does not block others', () => {
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

describe('the machine and its cluster', () => {
  const oven = { id: 'one', capacity: { 'cpu:run': 1 }, admission: 'slots', blockers: ready } as const;
  const cluster = { ...oven, id: 'cluster', admission: 'driver' } as const;
  const places = (decisions: ReturnType<typeof assignOnMachines>) =>
    Object.fromEntries(decisions.map(({ id, assign }) => [id, assign?.machineId ?? null]));
  const h100 = (numbers: number[], machines?: number) => ({
    gpus: [{ ...listed('NVIDIA_H100_80GB', numbers), machines }],
  });

  test('a driver with its own queue receives work that has no free slots', () => {
    const line = ['a', 'b', 'c'].map((id, index) => waiting(id, { userId: id, queuedAt: ago(9 - index) }));
    const decisions = assignOnMachines(line, [], [oven, cluster], now);
    expect(places(decisions)).toEqual({ a: 'one', b: 'cluster', c: 'cluster' });
    expect(decisions[1]).toMatchObject({ assign: { devices: [] } });
  });

  test('work for GPUs goes to the machine that has them', () => {
    const a100 = { accelerator: 'NVIDIA_TESLA_A100', count: 1 };
    const line = [
      waiting('h100', { placement: gpus(1) }),
      waiting('a100', { placement: a100, userId: 'bob' }),
    ];
    const machines = [
      { ...oven, capacity: h100([0]) },
      { ...cluster, capacity: { gpus: [listed('NVIDIA_TESLA_A100', [0, 1])] } },
    ];
    expect(places(assignOnMachines(line, [], machines, now))).toEqual({ h100: 'one', a100: 'cluster' });
  });

  test('skips a machine that cannot start such work yet, and reports that as the reason if no machine can', () => {
    const preparing = { ...oven, blockers: { train: 'Still being prepared' } };
    expect(places(assignOnMachines([waiting('a')], [], [preparing, cluster], now))).toEqual({ a: 'cluster' });
    expect(reasonOf(assignOnMachines([waiting('a')], [], [preparing], now), 'a')).toMatchObject({
      reason: 'Still being prepared',
      position: null,
    });
  });

  test('a cluster receives only what one of its nodes could hold, however many nodes it has', () => {
    const nodes = { gpus: [...h100([0, 1], 100).gpus, ...h100([0, 1, 2, 3], 2).gpus] };
    const line = [4, 8].map((count) => waiting(`${count}`, { placement: gpus(count), userId: `${count}` }));
    const decisions = assignOnMachines(line, [], [{ ...cluster, capacity: nodes }], now);
    expect(places(decisions)).toEqual({ 4: 'cluster', 8: null });
    expect(reasonOf(decisions, '8')).toMatchObject({ reason: expect.stringMatching(/this server has 4\.$/) });
    expect(countSlots('NVIDIA_H100_80GB', nodes)).toBe(208);
  });

  test('work that needs the whole machine is overtaken only in the cluster, and waits until the machine is free', () => {
    const machines = [
      { ...oven, capacity: h100([0, 1, 2, 3]) },
      { ...cluster, capacity: h100([0], 9) },
    ];
    const held = [
      holding('x', { placement: gpus(1), devices: [0], userId: 'cy', secondsLeft: 60 }),
      holding('y', { placement: gpus(1), machineId: 'cluster', userId: 'dan', secondsLeft: null }),
    ];
    const line = [
      waiting('four', { placement: gpus(4), queuedAt: ago(9) }),
      waiting('pair', { placement: gpus(2), userId: 'bob' }),
      waiting('single', { placement: gpus(1), userId: 'eve' }),
    ];
    const decisions = assignOnMachines(line, held, machines, now);
    expect(places(decisions)).toEqual({ four: null, pair: null, single: 'cluster' });
    expect(reasonOf(decisions, 'four')).toMatchObject({
      reason:
        'Waiting for 4 x NVIDIA H100 (80GB), next in line: 1 workload is using all available slots. Free in about 1 min.',
    });
    expect(reasonOf(decisions, 'pair')).toMatchObject({ position: 2 });
  });

  test('slots that a user holds in the cluster count for the order on the machine', () => {
    const line = [
      waiting('more', { userId: 'ada', queuedAt: ago(9) }),
      waiting('first', { userId: 'bob', queuedAt: ago(1) }),
    ];
    const held = holding('x', { machineId: 'cluster' });
    expect(places(assignOnMachines(line, [held], [oven], now))).toEqual({ first: 'one', more: null });
  });
});
