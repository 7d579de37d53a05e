import type { ChangeEvent } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import { type Logger, pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { connect } from '../db/database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { openEvents } from './events.ts';
import {
  announceAfterCommit,
  announceChange,
  announcementsWritten,
  logFailedAnnouncements,
  publishChange,
  publishSignal,
} from './publish-change.ts';

const { db, url } = await testDatabase();
let reconnects = 0;
const events = await openEvents(url, pino({ level: 'silent' }));
events.onReconnect(() => {
  reconnects += 1;
});
onFileEnd(events.close);

function listen(userId: string) {
  const heard: string[] = [];
  const stop = events.subscribe(userId, (event) => heard.push(event.id));
  return { heard, stop };
}

function publish(userId: string | null, id: string) {
  const event: ChangeEvent = { topic: 'run', id };
  return db.transaction().execute((tx) => publishChange(tx, userId, event));
}

describe('events', () => {
  test('reach all listeners of their user and no others; events for all users reach every listener', async () => {
    const [ada, alsoAda, bob] = [listen('ada'), listen('ada'), listen('bob')];
    await publish('ada', 'one');
    await publish(null, 'all');
    await vi.waitFor(() => expect(bob.heard).toEqual(['all']));
    expect(ada.heard).toEqual(['one', 'all']);
    expect(alsoAda.heard).toEqual(['one', 'all']);
    alsoAda.stop();
    await publish('ada', 'two');
    await vi.waitFor(() => expect(ada.heard).toContain('two'));
    expect(alsoAda.heard).not.toContain('two');
  });

  test('are received even if the sending process ends immediately afterwards', async () => {
    const ada = listen('ada');
    const leaving = connect(url);
    announceChange(leaving, 'ada', { topic: 'run', id: 'last but one' });
    announceChange(leaving, 'ada', { topic: 'run', id: 'last' });
    await announcementsWritten(leaving);
    await leaving.destroy();
    await vi.waitFor(() => expect(ada.heard).toEqual(['last but one', 'last']));
  });

  test('are logged if they cannot be announced after their commit', async () => {
    const leaving = connect(url);
    const warn = vi.fn();
    logFailedAnnouncements(leaving, { warn } as unknown as Logger);
    await announceAfterCommit(leaving, async (during) => {
      await leaving.transaction().execute(async (tx) => {
        during(tx);
        await publishChange(tx, 'ada', { topic: 'run', id: 'unheard' });
      });
      await leaving.destroy();
    });
    await vi.waitFor(() =>
      expect(warn).toHaveBeenCalledWith(expect.anything(), 'could not announce changes'),
    );
  });

  test('of a failed transaction are never announced', async () => {
    const ada = listen('ada');
    const failing = db.transaction().execute(async (tx) => {
      await publishChange(tx, 'ada', { topic: 'run', id: 'undone' });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await publish('ada', 'done');
    await vi.waitFor(() => expect(ada.heard).toEqual(['done']));
  });

  test('of a transaction are announced together after its commit, each only once', async () => {
    const ada = listen('ada');
    const undone = inTransaction(db, async (tx) => {
      await publishChange(tx, 'ada', { topic: 'balance', id: 'undone' });
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    const statements: string[] = [];
    const recorded = db.withPlugin({
      transformQuery: ({ node }) => {
        statements.push(JSON.stringify(node));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    await inTransaction(recorded, async (tx) => {
      await publishChange(tx, 'ada', { topic: 'balance', id: 'ada' });
      await publishChange(tx, 'ada', { topic: 'balance', id: 'ada' });
      await publishChange(tx, 'ada', { topic: 'run', id: 'one' });
      expect(statements).toEqual([]);
    });
    await vi.waitFor(() => expect(ada.heard).toEqual(['ada', 'one']));
    expect(statements).toEqual([expect.stringContaining('pg_notify')]);
  });

  test('outside a transaction are announced immediately, and further ones within 25 ms in one NOTIFY', async () => {
    const [ada, bob] = [listen('ada'), listen('bob')];
    let notified = 0;
    const counted = db.withPlugin({
      // Count queries when they are sent, because an announcement may arrive before its own query completes.
      transformQuery: ({ node }) => {
        notified += 1;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const announce = (id: string) => announceChange(counted, 'ada', { topic: 'balance', id });
    for (let n = 0; n < 100; n += 1) announce('same');
    announce('last');
    await vi.waitFor(() => expect(ada.heard).toEqual(['same', 'same', 'last']));
    expect(notified).toBe(2);
    expect(bob.heard).toEqual([]);
  });

  test('are received again after the connection broke', async () => {
    const ada = listen('ada');
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'bakehouse events'
      and datname = current_database()`.execute(db);
    await vi.waitFor(() => expect(reconnects).toBe(1));
    await publish('ada', 'after');
    await vi.waitFor(() => expect(ada.heard).toEqual(['after']));
  });
});

describe('signals', () => {
  test('reach every process that listens for their name, after the commit, and are not stored', async () => {
    const other = await openEvents(url, pino({ level: 'silent' }));
    onFileEnd(other.close);
    const heard: string[] = [];
    const stop = events.onSignal('oven', () => heard.push('here'));
    other.onSignal('oven', () => heard.push('there'));
    other.onSignal('mill', () => heard.push('mill'));
    const ofUser = listen('oven');

    const undone = inTransaction(db, async (tx) => {
      await publishSignal(tx, 'mill');
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    await inTransaction(db, async (tx) => {
      await publishSignal(tx, 'oven');
      await publishChange(tx, 'gus', { topic: 'run', id: 'one' });
      expect(heard).toEqual([]);
    });
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(['here', 'there']));
    stop();
    await db.transaction().execute((tx) => publishSignal(tx, 'oven'));
    await vi.waitFor(() => expect(heard.toSorted()).toEqual(['here', 'there', 'there']));

    await publish(null, 'all');
    await vi.waitFor(() => expect(ofUser.heard).toEqual(['all']));
    expect(heard.toSorted()).toEqual(['here', 'there', 'there']);
    const kept = await db.selectFrom('recent_changes').select(['user_id', 'thing_id']).execute();
    expect(kept).toContainEqual({ user_id: 'gus', thing_id: 'one' });
    expect(new Set(kept.map(({ user_id }) => user_id))).toEqual(new Set(['', 'ada', 'gus']));
  });
});
