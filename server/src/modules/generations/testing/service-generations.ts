import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { type Generation, getGeneration, startGeneration } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { expect, vi } from 'vitest';
import type { Config } from '../../../config.ts';
import type { Clock } from '../../../platform/clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { UPSTREAM_PNG, upstreamServer } from '../../providers/testing/upstream-server.ts';
import { createGenerationLoop } from '../run/run-generation.ts';

/** For tests: a server with fake services, for one user at a time. */
export async function serviceGenerations() {
  const upstream = await upstreamServer();
  onFileEnd(async () => upstream.close());
  const upstreams: Config['upstreams'] = {
    ...{ fal: null, replicate: null, blackForestLabs: null, byteplus: null, google: null },
  };
  const clock = fakeClock();
  const server = await testServer({ clock, config: { upstreams } });
  let ada: TestUser;

  /** Configures keys for only these services. */
  function connect(...names: (keyof Config['upstreams'])[]) {
    for (const name of Object.keys(upstreams) as (keyof Config['upstreams'])[])
      upstreams[name] = names.includes(name) ? upstream.access : null;
  }

  const start = (generator: GeneratorName, parameters: Generation['parameters'] = {}) => {
    const body = { generator, prompt: 'A loaf of bread', parameters };
    return server.request(startGeneration, { body }, { as: ada });
  };
  const read = (id: string) => server.request(getGeneration, { params: { id } }, { as: ada });

  return {
    ...{ upstream, clock, server, connect, start, read },
    /** Resets for the next test, with a new user: fal has a key and generates. */
    begin: async () => {
      connect('fal');
      Object.assign(upstream.state, {
        ...{ answer: 'ok', submissions: [], uploads: [], cancelled: [], looks: 0, retryAfter: '30' },
        ...{ file: UPSTREAM_PNG, cancelling: Promise.resolve() },
      });
      ada = await server.signUp('Ada');
      return ada;
    },
    /** Starts another web process of the same installation. */
    startSecond: () => startSecondServer(server, { upstreams, clock }),
    /** Starts a process that runs generations. */
    startGenerationLoop: () => startGenerationLoop(server),
    /** Starts a generation whose job at the service is running and has been polled. */
    startHanging: async (...asked: Parameters<typeof start>): Promise<string> => {
      upstream.state.answer = 'hang';
      const { id } = await start(...asked);
      await vi.waitFor(() => expect(upstream.state.looks).toBeGreaterThan(0));
      return id;
    },
    held: async () =>
      (await server.request(getBalance, { params: { userId: ada.userId } }, { as: ada })).held,
    charges: async () => {
      const call = { params: { userId: ada.userId }, query: {} };
      const { transactions } = await server.request(listTransactions, call, { as: ada });
      return transactions
        .filter(({ description }) => description.startsWith('Picture by'))
        .map(({ amount }) => amount);
    },
    /**
     * The fake clock is frozen: advance it past retry pauses, in steps small enough for leases to be
     * renewed.
     */
    untilEnded: (id: string) =>
      vi.waitFor(
        async () => {
          clock.advance({ seconds: 1 });
          const generation = await read(id);
          expect(generation.ended_at).not.toBeNull();
          return generation;
        },
        { interval: 100 },
      ),
  };
}

function startSecondServer(
  { services, databaseUrl }: TestServer,
  { upstreams, clock }: { upstreams: Config['upstreams']; clock: Clock },
): Promise<TestServer> {
  return testServer({
    clock,
    config: { upstreams, dataDir: services.config.dataDir },
    database: { url: databaseUrl, close: async () => undefined },
  });
}

function startGenerationLoop({ services, app }: Awaited<ReturnType<typeof testServer>>) {
  const serving = { capacity: async () => ({}), usage: app.usage };
  const loop = createGenerationLoop({ services, serving, places: { own: 4, upstream: 4 }, pollMs: 50 });
  loop.start();
  return loop;
}
