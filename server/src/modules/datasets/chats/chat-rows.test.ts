import { downloadFile } from '@bakehouse/contract/assets';
import { addChatRow } from '@bakehouse/contract/chat-rows';
import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { sourceCalls } from '../../fine-tuning/testing/source-calls.ts';

const server = await testServer();
const { create } = sourceCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
});

const question = { role: 'user', content: 'Is the rye fresh?' } as const;
const answer = { role: 'assistant', content: 'Baked today.' } as const;
const add = (id: string, body: object, as = ada) =>
  server.request(addChatRow, { params: { id }, body: body as never }, { as });
const lines = async (id: string): Promise<unknown[]> => {
  const sent = await server.send(
    downloadFile,
    { params: { id, '*': 'chats.jsonl' }, query: {} },
    { as: ada },
  );
  return (await sent.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
};

test('appends conversations in order, also concurrently and to an uploaded file', async () => {
  const id = await create(ada, 'RAW', 'Chats', { 'README.md': '# Chats' });
  expect(await add(id, { messages: [question, answer] })).toMatchObject({ file_name: 'chats.jsonl' });
  const more = ['one', 'two', 'three'].map((content) => ({ messages: [question, { ...answer, content }] }));
  await Promise.all(more.map((row) => add(id, row)));
  const again = { params: { id }, body: { messages: [question, { ...answer, content: 'once' }] } };
  await server.request(addChatRow, again, { as: ada, idempotencyKey: 'once' });
  await server.request(addChatRow, again, { as: ada, idempotencyKey: 'once' });
  const [first, ...others] = await lines(id);
  expect(first).toEqual({ messages: [question, answer] });
  expect(others).toHaveLength(4);
  expect(others).toEqual(expect.arrayContaining(more));

  const uploaded = await create(ada, 'RAW', 'Uploaded', { 'chats.jsonl': '{"messages": []}' });
  await add(uploaded, { messages: [question, answer] });
  expect(await lines(uploaded)).toEqual([{ messages: [] }, { messages: [question, answer] }]);
  const audited = await server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'asset.committed')
    .where('user_id', '=', ada.userId)
    .execute();
  expect(audited.at(-1)).toEqual({ detail: { asset_id: uploaded, put: '1', removed: '0' } });
});

test('stores tool calls, results, reasoning and weights in the format that fine-tuning reads', async () => {
  const id = await create(ada, 'RAW', 'Calls', {});
  const row = {
    messages: [
      { role: 'system', content: 'You bake.' },
      question,
      {
        ...{ role: 'assistant', content: null, reasoning_content: 'I look.', weight: 0 },
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"fresh": true}' },
      answer,
    ],
    tools: [{ type: 'function', function: { name: 'look' } }],
  };
  await add(id, row);
  expect(await lines(id)).toEqual([row]);
});

test("rejects a row without an answer to learn, and another user's dataset", async () => {
  const id = await create(ada, 'RAW', 'Refused', {});
  await expect(add(id, { messages: [question] })).rejects.toThrow('messages must have an answer to learn');
  await expect(add(id, { messages: [question, { ...answer, weight: 0 }] })).rejects.toThrow(
    'messages must have an answer to learn',
  );
  await expect(add(id, { messages: [question, { ...answer, weight: 2 }] })).rejects.toThrow(
    'weight must be 0 or 1',
  );
  await expect(add(id, { messages: [{ role: 'baker', content: '' }, answer] })).rejects.toThrow(
    'role must be system, user, assistant or tool',
  );
  const model = await create(ada, 'MODEL', 'A model', { 'config.json': '{}' });
  await expect(add(model, { messages: [question, answer] })).rejects.toThrow(
    'id belongs to a model: choose a dataset',
  );
  const bob = await server.signUp('Bob');
  await expect(add(id, { messages: [question, answer] }, bob)).rejects.toMatchObject({ status: 404 });
});
