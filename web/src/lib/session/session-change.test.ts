import { expect, test } from 'vitest';
import { changeSession, sessionSettled } from './session-change.ts';

test('a cookie-authenticated read waits for a session change, and continues if the change fails', async () => {
  await sessionSettled();
  for (const refused of [false, true]) {
    const order: string[] = [];
    const answer = Promise.withResolvers<void>();
    const change = changeSession(() => answer.promise).then(
      () => order.push('changed'),
      () => order.push('refused'),
    );
    const read = sessionSettled().then(() => order.push('read'));
    await Promise.resolve();
    expect(order).toEqual([]);
    if (refused) answer.reject(new Error('not the password'));
    else answer.resolve();
    await Promise.all([change, read]);
    expect(order.toSorted()).toEqual(refused ? ['read', 'refused'] : ['changed', 'read']);
  }
});

test('session changes are serialized, and a read waits for the last one', async () => {
  const order: string[] = [];
  const answer = Promise.withResolvers<void>();
  const first = changeSession(async () => {
    await answer.promise;
    order.push('password');
  });
  const second = changeSession(async () => void order.push('signed out'));
  const read = sessionSettled().then(() => order.push('read'));
  answer.resolve();
  await Promise.all([first, second, read]);
  expect(order).toEqual(['password', 'signed out', 'read']);
});

test('does not send a read that is cancelled while waiting', async () => {
  const cancelled = new AbortController();
  const answer = Promise.withResolvers<void>();
  const change = changeSession(() => answer.promise);
  const read = sessionSettled(cancelled.signal);
  cancelled.abort(new Error('cancelled'));
  answer.resolve();
  await expect(read).rejects.toThrow('cancelled');
  await change;
});
