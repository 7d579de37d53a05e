import { randomUUID } from 'node:crypto';
import {
  CONVERSATIONS_MAX,
  type Conversation,
  deleteConversation,
  getConversation,
  saveConversation,
} from '@bakehouse/contract/conversations';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';

const server = await testServer();
const said: Conversation = {
  turns: [
    { role: 'user', content: 'Which flour?' },
    { role: 'assistant', content: 'Rye.', speed: { firstTokenMs: 3, tokens: 2, tokensPerSecond: null } },
  ],
  unanswered: '',
  settings: { system: '', options: { temperature: null, max_tokens: 1024 } },
};
const callsOf = (as: Awaited<ReturnType<typeof server.signUp>>) => ({
  get: (id: string) => server.request(getConversation, { query: { model: id } }, { as }),
  save: (id: string, version: number, conversation: Conversation = said) =>
    server.request(
      saveConversation,
      { query: { model: id }, body: { version, save_id: randomUUID(), conversation } },
      { as },
    ),
  remove: (id: string) => server.request(deleteConversation, { query: { model: id } }, { as }),
});

test('a conversation is kept for its owner alone, until it is deleted', async () => {
  const [ada, bob] = [callsOf(await server.signUp()), callsOf(await server.signUp())];
  expect(await ada.get('crumb')).toEqual({ conversation: null, version: 0, save_id: null, is_kept: true });
  expect(await ada.save('crumb', 0)).toEqual({ version: 1 });
  expect(await ada.get('crumb')).toEqual({
    conversation: said,
    version: 1,
    save_id: expect.any(String),
    is_kept: true,
  });
  expect(await bob.get('crumb')).toMatchObject({ conversation: null });
  await bob.remove('crumb');
  expect(await ada.get('crumb')).toMatchObject({ version: 1 });
  await ada.remove('crumb');
  expect(await ada.get('crumb')).toMatchObject({ conversation: null, version: 0 });
});

test('of two that save the same version one is refused, and nothing of the other is lost', async () => {
  const ada = callsOf(await server.signUp());
  for (const version of [0, 1]) {
    const other = { ...said, unanswered: 'And then?' };
    const saves = await Promise.allSettled([ada.save('crumb', version), ada.save('crumb', version, other)]);
    expect(saves.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = saves.find((save) => save.status === 'rejected');
    expect(refused?.reason).toMatchObject({
      body: {
        error: {
          code: 'conflict',
          message: 'This conversation was changed in another tab or on another device',
        },
      },
    });
    expect(await ada.get('crumb')).toMatchObject({ version: version + 1 });
  }
  await expect(ada.save('crumb', 7)).rejects.toMatchObject({ status: 409 });
});

test('what was saved longest ago makes room', async () => {
  const ada = callsOf(await server.signUp());
  for (let at = 0; at <= CONVERSATIONS_MAX; at += 1) await ada.save(`pod-${at}`, 0);
  expect(await ada.get('pod-0')).toMatchObject({ conversation: null });
  expect(await ada.get('pod-1')).toMatchObject({ version: 1 });
});

test('what was saved longest ago makes room for what is long', async () => {
  const ada = callsOf(await server.signUp());
  const long = { ...said, unanswered: 'e'.repeat(1_000_000) };
  for (let at = 0; at < 22; at += 1) await ada.save(`pod-${at}`, 0, long);
  expect(await ada.get('pod-1')).toMatchObject({ conversation: null });
  expect(await ada.get('pod-2')).toMatchObject({ version: 1 });
});

test('a conversation that is far too long is refused', async () => {
  const ada = callsOf(await server.signUp());
  const turns = [{ role: 'user' as const, content: 'e'.repeat(2 * 1024 * 1024) }];
  await expect(ada.save('crumb', 0, { ...said, turns })).rejects.toMatchObject({
    body: { error: { code: 'payload_too_large' } },
  });
});

test('where none are kept a save is refused, and the app is told', async () => {
  const none = await testServer({ config: { keepConversations: false } });
  const as = await none.signUp();
  const query = { model: 'crumb' };
  expect(await none.request(getConversation, { query }, { as })).toMatchObject({ is_kept: false });
  const body = { version: 0, save_id: randomUUID(), conversation: said };
  await expect(none.request(saveConversation, { query, body }, { as })).rejects.toMatchObject({
    status: 409,
  });
});
