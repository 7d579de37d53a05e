import { randomUUID } from 'node:crypto';
import {
  CONVERSATIONS_MAX,
  type Conversation,
  deleteConversation,
  getConversation,
  listConversations,
  saveConversation,
} from '@bakehouse/contract/conversations';
import { expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testServer } from '../../../testing/test-server.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const said: Conversation = {
  turns: [
    { role: 'user', content: 'Which flour?' },
    { role: 'assistant', content: 'Rye.', speed: { firstTokenMs: 3, tokens: 2, tokensPerSecond: null } },
  ],
  unanswered: '',
  settings: { system: '', options: { temperature: null, max_tokens: 1024 } },
};
const ID: string = randomUUID();
const asking = (question: string, system = ''): Conversation => ({
  turns: [{ role: 'user', content: question }],
  unanswered: '',
  settings: { ...said.settings, system },
});
const callsOf = (as: Awaited<ReturnType<typeof server.signUp>>, model = 'crumb') => {
  const of = (id: string) => ({ query: { model, id } });
  return {
    list: async () => (await server.request(listConversations, { query: { model } }, { as })).conversations,
    newest: () => server.request(getConversation, { query: { model } }, { as }),
    get: (id = ID) => server.request(getConversation, of(id), { as }),
    save: (version: number, conversation: Conversation = said, id = ID) =>
      server.request(
        saveConversation,
        { ...of(id), body: { version, save_id: randomUUID(), conversation } },
        { as },
      ),
    remove: (id = ID) => server.request(deleteConversation, of(id), { as }),
  };
};
const none = { id: null, conversation: null, version: 0, save_id: null, is_kept: true };

test('a conversation belongs to its owner until it is deleted', async () => {
  const [ada, bob] = [callsOf(await server.signUp()), callsOf(await server.signUp())];
  expect(await ada.get()).toEqual(none);
  expect(await ada.save(0)).toEqual({ version: 1 });
  expect(await ada.get()).toEqual({
    id: ID,
    conversation: said,
    version: 1,
    save_id: expect.any(String),
    is_kept: true,
  });
  expect(await bob.get()).toEqual(none);
  expect(await bob.list()).toEqual([]);
  await bob.remove();
  expect(await bob.save(0, asking('Whose?'))).toEqual({ version: 1 });
  expect(await ada.get(ID.toUpperCase())).toMatchObject({ version: 1, conversation: said });
  await ada.remove();
  expect(await ada.get()).toEqual(none);
});

test('lists the conversations with one model or all, most recently saved first', async () => {
  const user = await server.signUp();
  const [ada, other] = [callsOf(user), callsOf(user, 'crust')];
  const [rye, spelt, empty] = [randomUUID(), randomUUID(), randomUUID()];
  await ada.save(0, asking(`Rye?\n${'e'.repeat(100)}`), rye);
  clock.advance({ seconds: 1 });
  await ada.save(0, asking('Spelt?', 'Be brief'), spelt);
  expect((await ada.list()).map(({ id, title }) => [id, title])).toEqual([
    [spelt, 'Spelt?'],
    [rye, `Rye?\n${'e'.repeat(75)}`],
  ]);
  expect(await other.list()).toEqual([]);
  expect(await other.get(spelt)).toEqual(none);
  await other.save(0, asking('Spelt?'), spelt);
  const { conversations: all } = await server.request(listConversations, {}, { as: user });
  expect(all.map(({ id, model }) => [id, model])).toEqual([
    [spelt, 'crumb'],
    [spelt, 'crust'],
    [rye, 'crumb'],
  ]);
  clock.advance({ seconds: 1 });
  await ada.save(1, { ...asking('Rye?'), turns: [], unanswered: 'Rye bread?' }, rye);
  expect((await ada.list()).map(({ title }) => title)).toEqual(['Rye bread?', 'Spelt?']);
  expect(await ada.newest()).toMatchObject({ id: rye, version: 2 });
  clock.advance({ seconds: 1 });
  await ada.save(0, { ...asking(''), turns: [] }, empty);
  expect(await ada.list()).toHaveLength(2);
  expect(await ada.newest()).toMatchObject({ id: empty });
  await ada.remove(empty);
  await ada.remove(rye);
  expect((await ada.list()).map(({ id }) => id)).toEqual([spelt]);
});

test('a new conversation starts with the settings of the newest conversation with the same model', async () => {
  const ada = callsOf(await server.signUp());
  await ada.save(0, asking('Spelt?', 'Be brief'));
  expect(await ada.get(randomUUID())).toEqual({
    ...none,
    conversation: { turns: [], unanswered: '', settings: { ...said.settings, system: 'Be brief' } },
  });
});

test('returns 404 for a malformed id', async () => {
  const ada = callsOf(await server.signUp());
  for (const id of ['crumb', 'e'.repeat(300)]) {
    const error = { code: 'not_found', param: 'id' };
    await expect(ada.get(id)).rejects.toMatchObject({ status: 404, body: { error } });
    await expect(ada.save(0, said, id)).rejects.toMatchObject({ status: 404, body: { error } });
  }
});

test('rejects one of two saves of the same version without losing the other', async () => {
  const ada = callsOf(await server.signUp());
  for (const version of [0, 1]) {
    const other = { ...said, unanswered: 'And then?' };
    const saves = await Promise.allSettled([ada.save(version), ada.save(version, other)]);
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
    expect(await ada.get()).toMatchObject({ version: version + 1 });
  }
  await expect(ada.save(7)).rejects.toMatchObject({ status: 409 });
});

test('deletes the oldest conversation of any model at the limit', async () => {
  const user = await server.signUp();
  const [ada, other] = [callsOf(user), callsOf(user, 'crust')];
  await other.save(0);
  for (let at = 0; at < CONVERSATIONS_MAX; at += 1) {
    clock.advance({ milliseconds: 1 });
    await ada.save(0, said, randomUUID());
  }
  expect(await other.list()).toEqual([]);
  expect(await ada.list()).toHaveLength(CONVERSATIONS_MAX);
});

test('deletes the oldest conversations if long ones exceed the size limit', async () => {
  const ada = callsOf(await server.signUp());
  const long = { ...said, unanswered: 'e'.repeat(1_000_000) };
  for (let at = 0; at < 22; at += 1) {
    clock.advance({ milliseconds: 1 });
    await ada.save(0, long, randomUUID());
  }
  expect(await ada.list()).toHaveLength(20);
});

test('rejects a conversation that is too long', async () => {
  const ada = callsOf(await server.signUp());
  const turns = [{ role: 'user' as const, content: 'e'.repeat(2 * 1024 * 1024) }];
  await expect(ada.save(0, { ...said, turns })).rejects.toMatchObject({
    body: { error: { code: 'payload_too_large' } },
  });
});

test('rejects saves on a server that saves no conversations, and tells the app', async () => {
  const forgetful = await testServer({ config: { keepConversations: false } });
  const as = await forgetful.signUp();
  const of = { query: { model: 'crumb', id: ID } };
  expect(await forgetful.request(getConversation, of, { as })).toEqual({ ...none, is_kept: false });
  expect(await forgetful.request(listConversations, { query: { model: 'crumb' } }, { as })).toEqual({
    conversations: [],
  });
  const body = { version: 0, save_id: randomUUID(), conversation: said };
  await expect(forgetful.request(saveConversation, { ...of, body }, { as })).rejects.toMatchObject({
    status: 409,
  });
});
