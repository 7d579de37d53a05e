import { describe, expect, it } from 'vitest';
import type { FairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { PARALLEL_REQUESTS } from '../../serving/text-spec.ts';
import { type AdapterTurns, SHORT_BYTES, serverTurns } from './server-turns.ts';

const server = { id: 'one', isOwn: true, engine: 'llamacpp', adapter: null } as const;
const PLACES = PARALLEL_REQUESTS.llamacpp;
const never = new AbortController().signal;
/** Fake shares: `count` processes use each server. */
const sharedBy = (count: number) => ({ begin: () => () => undefined, sharers: () => count });

it('remembers a model server only while it has requests', async () => {
  const queues = new Map<string, FairQueue>();
  const turns = serverTurns(sharedBy(1), queues);
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

it('does not remember a request whose client had already disconnected', async () => {
  const queues = new Map<string, FairQueue>();
  const turns = serverTurns(sharedBy(1), queues);
  await expect(turns.enter(server, 'ada', AbortSignal.abort(new Error('disconnected')))).rejects.toThrow();
  expect(queues.size).toBe(0);
});

it('sends at most as many requests to a model server as its engine answers in parallel', async () => {
  const turns = serverTurns(sharedBy(2));
  const onGpu = { ...server, id: 'other', engine: 'vllm' } as const;
  expect([turns.places(server), turns.places(onGpu)]).toEqual([2, 128]);
  for (let n = 0; n < 128; n += 1) await turns.enter(onGpu, 'ada', never);
  const client = new AbortController();
  const waiting = turns.enter(onGpu, 'ada', client.signal);
  expect(turns.load(onGpu)).toBe(129);
  client.abort(new Error('disconnected'));
  await expect(waiting).rejects.toThrow('disconnected');
});

it('admits requests of one adapter at a time, and forgets them afterwards', async () => {
  const adapters = new Map<string, AdapterTurns>();
  const turns = serverTurns(sharedBy(1), new Map(), adapters);
  const leave = await turns.enterAdapter(server, never);
  const client = new AbortController();
  const other = turns.enterAdapter({ ...server, adapter: 'rye' }, client.signal);
  client.abort(new Error('disconnected'));
  await expect(other).rejects.toThrow('disconnected');
  expect(adapters.size).toBe(1);
  leave();
  expect(adapters.size).toBe(0);
});

describe('the turn to read a prompt', () => {
  const long = SHORT_BYTES + 1;

  it("waits for a long prompt of the same user, but not for other users' prompts", async () => {
    const queues = new Map<string, FairQueue>();
    const turns = serverTurns(sharedBy(1), queues);
    const end = await turns.read(server, 'ada', long, never);
    let hasSecond = false;
    const second = turns.read(server, 'ada', long, never).then((endSecond) => {
      hasSecond = true;
      return endSecond;
    });
    // A short prompt of the same user, and a long one of another user.
    (await turns.read(server, 'ada', 1, never))();
    (await turns.read(server, 'bob', long, never))();
    expect(hasSecond).toBe(false);
    end();
    const endSecond = await second;
    // A second call does not end another user's turn.
    end();
    const client = new AbortController();
    const third = turns.read(server, 'ada', long, client.signal);
    client.abort(new Error('disconnected'));
    await expect(third).rejects.toThrow('disconnected');
    endSecond();
    expect(queues.size).toBe(0);
  });

  it('is separate for each adapter', async () => {
    const turns = serverTurns(sharedBy(1));
    await turns.read(server, 'ada', 1, never);
    await expect(turns.read({ ...server, adapter: 'rye' }, 'ada', 1, never)).resolves.toBeTypeOf('function');
  });
});
