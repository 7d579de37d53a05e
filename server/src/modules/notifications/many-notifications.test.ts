import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../testing/recording-database.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { deleteNotificationsBefore, selectUnreadCount } from './queries.ts';

/* A user who receives tiny transfers all day and never reads notifications. */

const UNREAD = 20_000;
const OLD = 100;
const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
const old = new Date('2026-01-01T00:00:00Z');

beforeAll(async () => {
  await sql`
    insert into users (id, name, username, email) values ('ada', 'Ada', 'ada', 'ada@example.com')`.execute(
    db,
  );
  await sql`
    insert into notifications (user_id, kind, data, created_at)
    select 'ada', 'credits_received', '{"sender": "eve", "amount_micro": "1"}',
      case when n <= ${OLD}::int then ${old} else ${old}::timestamptz + interval '100 days' end
    from generate_series(1, ${UNREAD}::int) n`.execute(db);
  await sql`vacuum analyze notifications`.execute(db);
});

test.each<[string, () => Promise<unknown>, unknown]>([
  ['all unread ones', () => selectUnreadCount(db, { userId: 'ada', max: 100 }), 100],
  ['some kinds', () => selectUnreadCount(db, { userId: 'ada', kinds: ['generation_completed'], max: 20 }), 0],
])('counts %s without reading further', async (_what, count, expected) => {
  expect(await count()).toBe(expected);
  const [plan = ''] = await plansOf(recording, count, { analyze: true });
  expect(plan).toContain('notifications_unread');
  expect(plan).not.toMatch(/rows=\d{4,}/);
});

test('finds old notifications to delete without reading others', async () => {
  const [plan = ''] = await plansOf(recording, () =>
    deleteNotificationsBefore(db, new Date('2026-01-02T00:00:00Z')),
  );
  expect(plan).toContain('notifications_by_time');
  expect(plan).not.toContain('Seq Scan');
  const { left } = await db
    .selectFrom('notifications')
    .select((s) => s.fn.countAll<bigint>().as('left'))
    .executeTakeFirstOrThrow();
  expect(Number(left)).toBe(UNREAD - OLD);
});
