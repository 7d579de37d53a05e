import { type ChangeEvent, streamEvents } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { deleteOldChangesJob } from './delete-old-changes.ts';
import { publishChange } from './publish-change.ts';

/* Two processes on one database: a stream interrupted at one process resumes at the other. */

const database = await testDatabase();
const settings = { secret: 'only-for-tests-only-for-tests-only' };
const first = await testServer({ database, config: settings });
const second = await testServer({ database: { url: database.url, close: async () => {} }, config: settings });
const [ada, bob] = [await first.signUp('Ada'), await first.signUp('Bob')];

/**
 * Publishes a change, and waits until both processes have received it. Otherwise a stream opened afterwards
 * could receive it twice.
 */
async function publish(userId: string | null, id: string): Promise<void> {
  const heard = [first, second].map(async ({ services }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stop = services.events.subscribe(userId ?? ada.userId, (event) => {
      if (event.id === id) resolve();
    });
    await promise;
    stop();
  });
  await inTransaction(first.services.db, (tx) => publishChange(tx, userId, { topic: 'run', id }));
  await Promise.all(heard);
}

/** The id without an event that ends the missed events. */
const ITS_PLACE = /(^|\n\n)id: \d+\n\n/;

/** Reads a stream up to the wanted change, and disconnects. Resolves to everything that was received. */
async function listen(
  server: typeof first,
  as: TestUser,
  { lastId, until, onOpen }: { lastId?: string; until: string; onOpen?: () => Promise<void> },
) {
  const cut = new AbortController();
  const response = await server.send(
    streamEvents,
    {},
    {
      as,
      headers: lastId === undefined ? {} : { 'last-event-id': lastId },
      signal: cut.signal,
    },
  );
  let text = '';
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const wasOpen = ITS_PLACE.test(text);
    text += piece;
    if (!wasOpen && ITS_PLACE.test(text)) await onOpen?.();
    if (text.includes(until)) break;
  }
  cut.abort();
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id ?? '');
  const changes = [...text.matchAll(/^event: change\ndata: (.*)$/gm)].map(
    ([, data]) => (JSON.parse(data ?? '') as ChangeEvent).id,
  );
  return { text, changes, lastId: ids.at(-1) ?? '' };
}

/** Makes all existing changes older by the interval. */
const age = (interval: string) =>
  sql`update recent_changes set at = at - ${interval}::interval`.execute(database.db);

test("an interrupted stream receives its missed changes at another process, each once, and never other users' changes", async () => {
  const before = await listen(first, ada, { until: 'heard', onOpen: () => publish(ada.userId, 'heard') });
  expect(before.changes).toContain('heard');
  await age('1 minute');
  const lastId = String(Number(before.lastId) - 30_000);
  for (let i = 0; i < 3; i += 1) await publish(ada.userId, 'often');
  await publish(bob.userId, 'of-bob');
  await publish(null, 'of-all');
  const after = await listen(second, ada, {
    lastId,
    until: 'live',
    onOpen: () => publish(ada.userId, 'live'),
  });
  expect(after.changes.toSorted()).toEqual(['live', 'of-all', 'often'].toSorted());
});

test('a stream without an id receives changes from just before it opened, but no older ones', async () => {
  await publish(ada.userId, 'older');
  await age('1 minute');
  await publish(ada.userId, 'before');
  const { text, changes, lastId } = await listen(first, ada, { until: '\n\nid: ' });
  expect(changes).toEqual(['before']);
  expect(text).toMatch(/\n\nid: \d+\n\n$/);
  await publish(ada.userId, 'after');
  expect((await listen(second, ada, { lastId, until: 'after' })).changes).toContain('after');
});

test.each([
  ['is unknown', () => 'nonsense'],
  ['is older than a day', () => String(Date.now() - 25 * 3_600_000)],
  ['is in the future', () => String(Date.now() + 3_600_000)],
])('a stream whose id %s is told that anything may have changed', async (_what, lastId) => {
  const { text, changes } = await listen(first, ada, { lastId: lastId(), until: 'event: reset' });
  expect(changes).toEqual([]);
  expect(text).toMatch(/^id: \d+\nevent: reset\ndata: \{\}$/m);
});

test('a stream that missed too many changes is told that anything may have changed', async () => {
  const cy = await first.signUp('Cy');
  const change = (n: number) => ({ user_id: cy.userId, topic: 'run', thing_id: `run ${n}`, at: new Date() });
  const changes = Array.from({ length: 1001 }, (_, n) => change(n));
  await database.db.insertInto('recent_changes').values(changes).execute();
  const { text } = await listen(second, cy, { lastId: String(Date.now()), until: 'event: reset' });
  expect(text).not.toContain('event: change');
});

test('changes older than a day are deleted', async () => {
  await publish(ada.userId, 'old');
  await age('25 hours');
  await publish(ada.userId, 'new');
  await deleteOldChangesJob.run(first.services, {}, new AbortController().signal);
  const kept = await database.db.selectFrom('recent_changes').select('thing_id').execute();
  expect(kept.map(({ thing_id }) => thing_id)).toContain('new');
  expect(kept.map(({ thing_id }) => thing_id)).not.toContain('old');
});

test('does not wait for a row that another process is announcing again', async () => {
  await publish(ada.userId, 'again');
  await publish(ada.userId, 'forgotten');
  await age('25 hours');
  await database.db.transaction().execute(async (tx) => {
    await sql`update recent_changes set at = now() where thing_id = 'again'`.execute(tx);
    await deleteOldChangesJob.run(first.services, {}, new AbortController().signal);
  });
  const kept = await database.db.selectFrom('recent_changes').select('thing_id').execute();
  expect(kept.map(({ thing_id }) => thing_id)).toContain('again');
  expect(kept.map(({ thing_id }) => thing_id)).not.toContain('forgotten');
});
