import { randomUUID } from 'node:crypto';
import { listGenerations } from '@bakehouse/contract/generations';
import { sql } from 'kysely';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findGeneration } from '../../../modules/generations/generations.ts';
import {
  claimAbandonedGeneration,
  type GenerationRow,
  markDisconnected,
  selectGenerations,
} from '../../../modules/generations/queries.ts';
import { awaitCompleted, cancelDisconnected } from '../../../modules/generations/start/await-completed.ts';
import { serviceGenerations } from '../../../modules/generations/testing/service-generations.ts';
import type { Context } from '../../../platform/context.ts';
import { serverStops } from '../../../platform/http/graceful-close.ts';
import type { LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import type { TestUser } from '../../../testing/test-server.ts';

/* Calls that stay open until their picture is complete. */

const setting = await serviceGenerations();
const { server, upstream, startGenerationLoop, startHanging, read } = setting;

let ada: TestUser;
let loop: LeaseLoop;
afterEach(() => loop.stop());
beforeEach(async () => {
  loop = startGenerationLoop();
  ada = await setting.begin();
});

const contextOf = (closing: AbortSignal): Context => ({
  ...server.services,
  caller: { kind: 'user', userId: ada.userId, isOperator: false },
  closing,
  requestId: 'test',
  idempotencyKey: null,
});

/**
 * Waits for the picture like a call. Returns how the call ended, and functions that disconnect it or stop the
 * server.
 */
function wait(id: string) {
  const closing = new AbortController();
  const gone = new AbortController();
  const { signal } = gone;
  const onUndelivered = (listener: () => void) => signal.addEventListener('abort', listener);
  const answer = awaitCompleted(contextOf(closing.signal), { id }, { signal, onUndelivered });
  return {
    ended: answer.then(
      () => null,
      (error: unknown) => error,
    ),
    disconnect: () => gone.abort(),
    stop: () => closing.abort(serverStops()),
  };
}

/** Returns the user's only generation, once the service has accepted it. */
const begun = () =>
  vi.waitFor(async () => {
    const [row] = await selectGenerations(server.services.db, { userId: ada.userId, limit: 1 });
    if (!row?.upstream_job?.handle) throw new Error('it has no job yet');
    return row;
  });

/** Claims the picture as a repeated call would. */
const sendTwice = async ({
  user_id,
  request_sha256,
  key_id,
}: Pick<GenerationRow, 'user_id' | 'request_sha256' | 'key_id'>) => {
  const { db, clock, processId } = server.services;
  const same = { userId: user_id, requestSha256: request_sha256, keyId: key_id };
  const now = clock.now();
  return (
    await db
      .transaction()
      .execute((tx) => claimAbandonedGeneration(tx, { ...same, processId, now, withinMs: 30_000 }))
  )?.id;
};

test('cancels a picture if its call disconnects', async () => {
  const id = await startHanging('flux');
  const call = wait(id);
  call.disconnect();
  await call.ended;
  expect(await read(id)).toMatchObject({ state: 'cancelled' });
});

test('an abandoned picture is claimed by a single repeated call, and earlier calls can no longer cancel it', async () => {
  const { db, clock } = server.services;
  const id = await startHanging('flux');
  const { userId } = ada;
  const asked = await findGeneration(db, { id, userId });
  if (!asked) throw new Error('it is not there');
  const take = (keyId = asked.key_id) => sendTwice({ ...asked, key_id: keyId });
  expect(await take()).toBeUndefined();
  await markDisconnected(db, { id, userId }, clock.now());
  expect(await take(null)).toBeUndefined();
  expect(await take()).toBe(id);
  expect(await take()).toBeUndefined();
  const ctx = contextOf(new AbortController().signal);
  expect(await cancelDisconnected(ctx, { id })).toMatchObject({ ended_at: null });
});

test('a picture that is claimed while its service cancels it is started again and charged once', async () => {
  const { promise: cancelling, resolve: cancel } = Promise.withResolvers<void>();
  upstream.state.cancelling = cancelling;
  const id = await startHanging('flux');
  const asked = await begun();
  const call = wait(id);
  call.disconnect();
  await vi.waitFor(() => expect(upstream.state.cancelled).toEqual(['job_1']));
  expect(await sendTwice(asked)).toBe(id);
  cancel();
  await call.ended;
  upstream.state.answer = 'ok';
  expect(await setting.untilEnded(id)).toMatchObject({ state: 'completed' });
  expect(upstream.state.submissions).toHaveLength(2);
  expect(await setting.charges()).toHaveLength(1);
});

test('an abandoned picture is completed by its job if its service does not cancel it', async () => {
  const id = await startHanging('flux');
  await begun();
  upstream.state.answer = 'not cancelled';
  const call = wait(id);
  call.disconnect();
  await call.ended;
  upstream.state.answer = 'ok';
  expect(await setting.untilEnded(id)).toMatchObject({ state: 'completed' });
  expect(upstream.state.submissions).toHaveLength(1);
});

test('a call repeated after its server was killed gets the picture it waited for', async () => {
  const { db, machineId } = server.services;
  upstream.state.answer = 'generating';
  const killed = randomUUID();
  const { promise: isKilled, resolve: say } = Promise.withResolvers<void>();
  /**
   * Makes the process that serves the call look dead while the call is open: its last heartbeat was some
   * seconds ago.
   */
  const kill = async () => {
    await begun();
    await sql`
      insert into processes (id, machine_id, roles, since, seen_at)
      values (${killed}, ${machineId}, '{web}', now() - interval '1 hour', now() - interval '5 seconds')`.execute(
      db,
    );
    await db
      .updateTable('generations')
      .set({ process_id: killed })
      .where('user_id', '=', ada.userId)
      .execute();
  };
  const attempt: typeof fetch = async (url, init) => {
    const isFirst = new Headers(init?.headers).get('x-stainless-retry-count') === '0';
    const response = fetch(url, { ...init, signal: null });
    if (!isFirst) return response;
    void response.catch(() => undefined);
    await kill();
    say();
    throw new TypeError('fetch failed');
  };
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, fetch: attempt });
  const asked = client.images.generate({ model: 'flux', prompt: 'A roll' });
  await isKilled;
  const process = () =>
    db.selectFrom('generations').select('process_id').where('user_id', '=', ada.userId).execute();
  await vi.waitFor(async () => expect(await process()).toEqual([{ process_id: server.services.processId }]));
  upstream.state.answer = 'ok';
  expect((await asked).data).toHaveLength(1);
  expect(await setting.charges()).toHaveLength(1);
}, 40_000);

test('a server that stops returns 503 to waiting calls, and cancels no picture', async () => {
  const id = await startHanging('flux');
  const call = wait(id);
  call.stop();
  expect(await call.ended).toMatchObject({ status: 503, shouldRetry: true });
  call.disconnect();
  expect(await read(id)).toMatchObject({ ended_at: null });
});

test('equal calls get separate pictures, even if rate-limited ones are repeated at another process', async () => {
  upstream.state.answer = 'hang';
  const other = await setting.startSecond();
  const statuses: number[] = [];
  const attempt: typeof fetch = async (url, init) => {
    const isFirst = new Headers(init?.headers).get('x-stainless-retry-count') === '0';
    const response = await fetch(isFirst ? url : new Request(url).url.replace(server.url, other.url), init);
    statuses.push(response.status);
    return response;
  };
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, fetch: attempt });
  const asked = Array.from({ length: 9 }, () => client.images.generate({ model: 'flux', prompt: 'A roll' }));
  await vi.waitFor(() => expect(statuses).toEqual([429]));
  upstream.state.answer = 'ok';
  const answers = await Promise.all(asked);
  const links = answers.map(({ data }) => data?.[0]?.url);
  expect(new Set(links).size).toBe(9);
  const params = { userId: ada.userId };
  const { generations } = await server.request(listGenerations, { params, query: {} }, { as: ada });
  expect(generations).toHaveLength(9);
}, 40_000);
