import { pino } from 'pino';
import { expect, it } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { gatewayPresence } from './gateway-presence.ts';

const { db } = await testDatabase();
const log = pino({ level: 'silent' });
const never = new AbortController().signal;
let time = 0;
const join = () => {
  const presence = gatewayPresence(db, log, () => time);
  onFileEnd(presence.close);
  return presence;
};

it('knows that it is alone, until it has not looked for a while or another comes', async () => {
  const first = join();
  expect(first.alone()).toBeNull();
  await first.settled(never);
  const epoch = first.alone();
  expect(epoch).not.toBeNull();
  time += 5_000;
  expect(first.alone()).toBe(epoch);
  time += 1_000;
  expect(first.alone()).toBeNull();

  // Long unseen, as after a suspend, it looks again before it sends, and knows nothing of before.
  time += 60_000;
  await first.settled(never);
  expect(first.alone()).toBeGreaterThan(epoch ?? 0);

  // A second one must not send before the first has looked.
  const second = join();
  const gone = new AbortController();
  const settled = second.settled(gone.signal);
  gone.abort(new Error('not yet'));
  await expect(settled).rejects.toThrow();
  expect(second.alone()).toBeNull();
  await second.close();
});
