import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { inTransaction } from '../platform/db/in-transaction.ts';
import { openEvents } from '../platform/events/events.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { recordingDatabase } from '../testing/recording-database.ts';
import { testDatabase } from '../testing/test-database.ts';
import { WAKE_SIGNAL } from './queries.ts';
import { requestWorkload, stopWorkload } from './request-workload.ts';
import { testSpec } from './testing/test-spec.ts';

const { url } = await testDatabase();
const { db, asked } = recordingDatabase(url);
const events = await openEvents(url, pino({ level: 'silent' }));
onFileEnd(events.close);

test('requesting or stopping work wakes the engines after the commit: the transaction has no NOTIFY', async () => {
  const woken = vi.fn();
  events.onSignal(WAKE_SIGNAL, woken);
  const now = new Date('2026-01-01T00:00:00Z');
  const notifies = () => asked.filter(({ text }) => text.includes('pg_notify')).length;
  await inTransaction(db, async (tx) => {
    const id = await requestWorkload(tx, {
      userId: null,
      behaviour: 'run',
      kind: 'test',
      title: 'a run',
      spec: testSpec('a run'),
      placement: { accelerator: null, count: 0 },
      now,
    });
    await stopWorkload(tx, { id, reason: 'Cancelled', now });
    expect(notifies()).toBe(0);
  });
  await vi.waitFor(() => expect(woken).toHaveBeenCalledOnce());
  expect(notifies()).toBe(1);
});
