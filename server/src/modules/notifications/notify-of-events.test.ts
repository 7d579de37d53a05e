import { randomUUID } from 'node:crypto';
import { cancelGeneration } from '@bakehouse/contract/generations';
import { listNotifications } from '@bakehouse/contract/notifications';
import { expect, test, vi } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { notifyOfGeneration } from './notify-of-events.ts';

const { server, stub, clock, generate, read, until } = await testGenerations();

const listFor = (as: TestUser) =>
  server.request(listNotifications, { params: { userId: as.userId }, query: { limit: 200 } }, { as });

/** Requests a picture that hangs while the clock advances by this many seconds. */
async function generateFor(as: TestUser, seconds: number): Promise<string> {
  stub.answer = 'hang';
  const { id } = await generate(as);
  await expect.poll(async () => (await read(as, id)).step).toBe(1);
  clock.advance({ seconds });
  return id;
}

test('report a slow generation with its page, but not a quick one', async () => {
  const ada = await server.signUp('Ada');
  for (const seconds of [30, 31]) {
    const id = await generateFor(ada, seconds);
    // The lease may have expired with the clock. Then the picture is generated again, and must not hang
    // again.
    stub.answer = 'ok';
    stub.letGo();
    await until(ada, id, 'completed');
    expect(await listFor(ada)).toMatchObject(
      seconds === 30
        ? []
        : [
            {
              kind: 'generation_completed',
              message: 'Your Paris starter generation is ready',
              link: `/gallery/${id}`,
              generation_id: id,
              status: 'unread',
            },
          ],
    );
  }
});

test('report a failed slow generation unless its owner ended it', async () => {
  const ada = await server.signUp('Ada');
  const cancelled = await generateFor(ada, 31);
  await server.request(cancelGeneration, { params: { id: cancelled } }, { as: ada });
  stub.letGo();
  stub.answer = 'fail';
  const { id } = await generate(ada);
  await vi.waitFor(
    async () => {
      clock.advance({ seconds: 11 });
      expect(await read(ada, id)).toMatchObject({ state: 'failed' });
    },
    { interval: 200 },
  );
  expect(await listFor(ada)).toMatchObject([
    { kind: 'generation_failed', message: 'Your Paris starter generation failed', link: `/gallery/${id}` },
  ]);
});

test('generations are no longer reported once twenty notifications are unread', async () => {
  const ada = await server.signUp('Ada');
  for (let made = 0; made < 22; made += 1) {
    await inTransaction(server.services.db, (tx) =>
      notifyOfGeneration(tx, {
        ...{ userId: ada.userId, generationId: randomUUID(), generator: 'Paris' },
        ...{ state: 'completed', askedAt: new Date(0), endedAt: new Date(60_000) },
      }),
    );
  }
  expect(await listFor(ada)).toHaveLength(20);
});
