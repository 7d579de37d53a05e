import * as visitors from '@bakehouse/contract/visitors';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import { testServing } from '../../testing/test-serving.ts';
import { insertStarter } from '../deployments/testing/test-models.ts';
import { starterLanguageModel } from '../models/starter/starters.ts';
import { VISITORS } from './visitor-questions.ts';

const { server, stub } = await testServing();
await insertStarter(server.services, starterLanguageModel.slug);

beforeEach(() => {
  stub.answer = 'ok';
  stub.held = Promise.resolve();
  stub.requests.length = 0;
});

const ask = (
  question: string,
  turns: { role: 'user' | 'assistant'; content: string }[] = [],
  from = '203.0.113.1',
) =>
  server.send(visitors.askAsVisitor, { body: { question, turns } }, { headers: { 'x-forwarded-for': from } });

test('streams an answer that uses earlier turns as context; the installation pays', async () => {
  const tries = await server.request(visitors.getVisitorTries, {});
  expect(tries).toEqual({ picture: 'off', chat: 'ready', chat_model: starterLanguageModel.slug });
  const turns = [
    { role: 'user' as const, content: 'Hello' },
    { role: 'assistant' as const, content: 'Hello!' },
  ];
  const response = await ask('What do you bake?', turns);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const text = await response.text();
  expect(text).toContain('bread');
  expect(text).toMatch(/data: \[DONE\]\s*$/);
  expect(stub.requests.at(-1)).toMatchObject({
    messages: [...turns, { role: 'user', content: 'What do you bake?' }],
    max_tokens: 200,
  });
  await server.app.usage.closeIdle();
  const { rows } = await sql<{ kind: string }>`
    select kind from ledger_transfers where debit_account_id = ${`user:${VISITORS}`}`.execute(
    server.services.db,
  );
  expect(rows).not.toEqual([]);
});

test('answers one question at a time; refuses a third one of a network, and a ninth one in total', async () => {
  const held = Promise.withResolvers<void>();
  stub.answer = 'hold';
  stub.held = held.promise;
  const from = (network: number) => ask(`Of network ${network}?`, [], `203.0.113.${network}`);
  const answers = [1, 1, 2, 2, 3, 3, 4].map(from);
  await vi.waitFor(() => expect(stub.requests).toHaveLength(1));
  const third = await from(1);
  expect(third.status).toBe(429);
  expect(await third.json()).toMatchObject({
    error: { message: 'Other visitors are trying it right now. Try again in a few seconds, or sign up.' },
  });
  answers.push(from(4));
  await vi.waitFor(async () => expect((await from(5)).status).toBe(429));
  expect(stub.requests).toHaveLength(1);
  held.resolve();
  for (const answer of await Promise.all(answers)) expect(await answer.text()).toContain('[DONE]');
  expect((await from(5)).status).toBe(200);
});

test('refuses invalid input by name at no cost', async () => {
  for (const question of ['', 'x'.repeat(501)]) {
    const response = await ask(question);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'question' } });
  }
  expect(stub.requests).toEqual([]);
});
