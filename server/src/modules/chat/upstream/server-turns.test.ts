import { describe, expect, it } from 'vitest';
import type { FairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { PARALLEL_REQUESTS } from '../../serving/text-spec.ts';
import type { AdapterTurns } from './adapter-turns.ts';
import { SHORT_BYTES, serverTurns } from './server-turns.ts';

const server = { id: 'one', isOwn: true, engine: 'llamacpp', adapter: null } as const;
const PLACES = PARALLEL_REQUESTS.llamacpp;
const never = new AbortController().signal;
/** Shares of a server to which so many processes send. */
const sharedBy = (count: number) => ({ begin: () => () => undefined, sharers: () => count });

it('remembers a model server for as long as a request is there or waits', async () => {
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

it('remembers nothing of a request whose client had disconnected before', async () => {
  const queues = new Map<string, FairQueue>();
  const turns = serverTurns(sharedBy(1), queues);
  await expect(turns.enter(server, 'ada', AbortSignal.abort(new Error('disconnected')))).rejects.toThrow();
  expect(queues.size).toBe(0);
});

it('sends as many to each model server as its engine answers side by side', async () => {
  const turns = serverTurns(sharedBy(2));
  const onGpu = { ...server, id: 'other', engine: 'vllm' } as const;
  expect([turns.places(server), turns.places(onGpu)]).toEqual([2, 32]);
  for (let n = 0; n < 32; n += 1) await turns.enter(onGpu, 'ada', never);
  const client = new AbortController();
  const waiting = turns.enter(onGpu, 'ada', client.signal);
  expect(turns.load(onGpu)).toBe(33);
  client.abort(new Error('disconnected'));
  await expect(waiting).rejects.toThrow('disconnected');
});

it('lets in the requests for one adapter at a time, and remembers nothing of them', async () => {
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

describe('the turn to have a prompt read', () => {
  const long = SHORT_BYTES + 1;

  it("waits for a long one of the same user, and for nobody else's", async () => {
    const queues = new Map<string, FairQueue>();
    const turns = serverTurns(sharedBy(1), queues);
    const end = await turns.read(server, 'ada', long, never);
    let hasSecond = false;
    const second = turns.read(server, 'ada', long, never).then((endSecond) => {
      hasSecond = true;
      return endSecond;
    });
    // A short one of the same user, and another's long one.
    (await turns.read(server, 'ada', 1, never))();
    (await turns.read(server, 'bob', long, never))();
    expect(hasSecond).toBe(false);
    end();
    const endSecond = await second;
    // A second call ends nobody else's.
    end();
    const client = new AbortController();
    const third = turns.read(server, 'ada', long, client.signal);
    client.abort(new Error('disconnected'));
    await expect(third).rejects.toThrow('disconnected');
    endSecond();
    expect(queues.size).toBe(0);
  });

  it('is apart for each adapter, whose prompts wait for other answers', async () => {
    const turns = serverTurns(sharedBy(1));
    await turns.read(server, 'ada', 1, never);
    await expect(turns.read({ ...server, adapter: 'rye' }, 'ada', 1, never)).resolves.toBeTypeOf('function');
  });
});
