import { expect, it } from 'vitest';
import type { FairQueue } from '../../../../platform/concurrency/fair-queue.ts';
import { PARALLEL_REQUESTS } from '../../kinds/text-spec.ts';
import { serverTurns } from './server-turns.ts';

const server = { id: 'one', isOwn: true, engine: 'llamacpp' } as const;
const PLACES = PARALLEL_REQUESTS.llamacpp;
const never = new AbortController().signal;

it('remembers a model server for as long as a request is there or waits', async () => {
  const queues = new Map<string, FairQueue>();
  const turns = serverTurns(() => 1, queues);
  const leaves = [];
  for (let n = 0; n < PLACES; n += 1) leaves.push(await turns.enter(server, 'ada', never));
  const client = new AbortController();
  const waiting = turns.enter(server, 'bob', client.signal);
  expect(turns.load(server)).toBe(PLACES + 1);

  client.abort(new Error('disconnected'));
  await expect(waiting).rejects.toThrow('disconnected');
  expect(turns.load(server)).toBe(PLACES);
  for (const leave of leaves) {
    expect(queues.size).toBe(1);
    leave();
  }
  expect(queues.size).toBe(0);
});

it('remembers nothing of a request whose client had disconnected before', async () => {
  const queues = new Map<string, FairQueue>();
  const turns = serverTurns(() => 1, queues);
  await expect(turns.enter(server, 'ada', AbortSignal.abort(new Error('disconnected')))).rejects.toThrow();
  expect(queues.size).toBe(0);
});

it('sends as many to each model server as its engine answers side by side', async () => {
  const turns = serverTurns(() => 2);
  const onGpu = { ...server, id: 'other', engine: 'vllm' } as const;
  expect([turns.places(server), turns.places(onGpu)]).toEqual([2, 32]);
  for (let n = 0; n < 32; n += 1) await turns.enter(onGpu, 'ada', never);
  const client = new AbortController();
  const waiting = turns.enter(onGpu, 'ada', client.signal);
  expect(turns.load(onGpu)).toBe(33);
  client.abort(new Error('disconnected'));
  await expect(waiting).rejects.toThrow('disconnected');
});
