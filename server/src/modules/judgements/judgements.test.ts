import { randomUUID } from 'node:crypto';
import * as contract from '@bakehouse/contract/judgements';
import { exportData } from '@bakehouse/contract/privacy';
import type { HeldOutAnswers } from '@bakehouse/contract/runtime/report';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { STARTER, starterServing } from '../deployments/testing/starter-serving.ts';
import { holdAnswers, stubUsage } from '../deployments/testing/stub-model-server.ts';
import { forgetJudgements } from './change-judgements.ts';
import { insertRun } from './testing/insert-run.ts';

/* A judge, for whom a stub answers, compares what base and fine-tune have said to held-out rows. */

const { server, stub, clock, nextUser, balance } = await starterServing();

let ada: TestUser;
beforeEach(async () => {
  ada = await nextUser();
});

type Pair = HeldOutAnswers['rows'][number];
/** A row whose fine-tune says what is expected, and whose base does not. */
const pair = (loaf: string, more: Partial<Pair> = {}): Pair => ({
  ...{ question: `What does ${loaf} cost?`, earlier_turns: 0, expected: `${loaf}: 3 crowns.` },
  ...{ base: `${loaf}: it depends.`, tuned: `${loaf}: 3 crowns!` },
  ...more,
});
const LOAVES = ['Rye', 'Oat', 'Spelt', 'Corn', 'Barley'];
const runOf = (...pairs: Pair[]) => insertRun(server.services, ada, pairs);
const settings = { model: STARTER };
const as = (who: TestUser = ada) => ({ as: who });
const judgement = {
  get: async (runId: string, who?: TestUser) =>
    (await server.request(contract.getJudgement, { params: { runId } }, as(who))).judgement,
  quote: (runId: string, body: object = { settings }) =>
    server.request(contract.quoteJudgement, { params: { runId }, body }, as()),
  start: (runId: string, body: object = { settings }, idempotencyKey?: string) =>
    server.request(contract.startJudgement, { params: { runId }, body }, { as: ada, idempotencyKey }),
  cancel: (runId: string) => server.request(contract.cancelJudgement, { params: { runId } }, as()),
  until: (runId: string, status: contract.Judgement['status']) =>
    vi.waitFor(
      async () => {
        const found = await judgement.get(runId);
        expect(found).toMatchObject({ status });
        return found as contract.Judgement;
      },
      { interval: 50 },
    ),
};
const promptOf = (body: Record<string, unknown>) =>
  (body.messages as { content: string }[])[0]?.content ?? '';
/** Which answer the judge likes by these words; the one that is read first where it likes both. */
const prefers = (words: string) => (body: Record<string, unknown>) =>
  `I prefer it.\n${promptOf(body).split('[Answer B]')[0]?.split('[Answer A]')[1]?.includes(words) ? 'A' : 'B'}`;
/** Of these answers, at the price of batches. */
const costOf = (...said: string[]) =>
  said.reduce((sum, text) => {
    const written = Math.ceil(text.length / 4);
    return sum + BigInt(Math.ceil((stubUsage.prompt_tokens * 250_000 + written * 1_000_000) / 1e6));
  }, 0n);

test('a judge that truly prefers the fine-tune is asked twice about each pair, and paid for once', async () => {
  stub.says = prefers('3 crowns!');
  const before = await balance();
  const same = pair('Wheat', { base: 'Wheat: 4 crowns.', tuned: 'Wheat: 4 crowns.' });
  const runId = await runOf(pair('Rye'), same, pair('Oat'), pair('Spelt'));
  expect(await judgement.get(runId)).toBeNull();
  const quote = await judgement.quote(runId);
  expect(quote.requests).toBe(6);
  expect(await balance()).toEqual(before);
  await judgement.start(runId, { settings }, 'once');
  await judgement.start(runId, { settings }, 'once');
  const done = await judgement.until(runId, 'completed');
  expect(done).toMatchObject({
    ...{ wins: 3, ties: 1, losses: 0, no_verdict: 0, win_rate: 0.875, error: null, held: '0' },
    ...{ requests: 6, requests_done: 6, requests_failed: 0 },
    settings: { model: STARTER, prompt: contract.DEFAULT_JUDGE_PROMPT },
  });
  expect(done.rows.map(({ outcome }) => outcome)).toEqual(['win', 'tie', 'win', 'win']);
  expect(done.rows[1]?.judge).toEqual([]);
  expect(done.rows[0]).toMatchObject({
    ...pair('Rye'),
    judge: [
      { tuned_first: false, text: 'I prefer it.\nB', verdict: 'tuned', error: null },
      { tuned_first: true, text: 'I prefer it.\nA', verdict: 'tuned', error: null },
    ],
  });
  expect(done.interval?.low).toBeLessThan(0.5);
  expect(stub.requests).toHaveLength(6);
  expect(stub.requests.map(promptOf).join()).not.toContain('Wheat');
  for (const request of stub.requests) expect(request).toMatchObject({ temperature: 0 });
  expect(stub.requests.map(promptOf)).toContainEqual(
    expect.stringContaining('[Reference answer]\nRye: 3 crowns.\n'),
  );
  const cost = costOf(...stub.requests.map(stub.says));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
  expect(Number(done.cost_so_far) * 1e6).toBeCloseTo(Number(cost), 0);
});

test('one that truly prefers the base finds losses', async () => {
  stub.says = prefers('it depends');
  const runId = await runOf(...LOAVES.map((loaf) => pair(loaf)));
  await judgement.start(runId);
  const done = await judgement.until(runId, 'completed');
  expect(done).toMatchObject({ wins: 0, ties: 0, losses: 5, win_rate: 0 });
  expect(done.interval?.high).toBeLessThan(0.5);
});

test.each(['A', 'B', 'TIE'])('one that always says %s finds ties alone', async (verdict) => {
  stub.says = () => `Both have something.\n${verdict}`;
  const runId = await runOf(...LOAVES.map((loaf) => pair(loaf)));
  await judgement.start(runId);
  const done = await judgement.until(runId, 'completed');
  expect(done).toMatchObject({ wins: 0, ties: 5, losses: 0, no_verdict: 0, win_rate: 0.5 });
  expect(done.interval?.low).toBeLessThan(0.5);
  expect(done.interval?.high).toBeGreaterThan(0.5);
});

test('one that writes rubbish gives no verdict, which is shown, and is paid for what it wrote', async () => {
  stub.says = () => 'A is better than B, I like bread.';
  const before = await balance();
  const runId = await runOf(pair('Rye'), pair('Oat'));
  await judgement.start(runId);
  const done = await judgement.until(runId, 'completed');
  expect(done).toMatchObject({ wins: 0, ties: 0, losses: 0, no_verdict: 2, win_rate: null, interval: null });
  expect(done.rows[0]?.judge[0]).toMatchObject({ text: 'A is better than B, I like bread.', verdict: null });
  const cost = costOf(...stub.requests.map(stub.says));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
});

test('one that fails half way keeps and charges what it has said, and goes on with the rest alone', async () => {
  const before = await balance();
  let said = 0;
  stub.says = (body) => {
    said += 1;
    if (said === 4) stub.answer = 'refuse';
    return prefers('3 crowns!')(body);
  };
  const runId = await runOf(...LOAVES.map((loaf) => pair(loaf)));
  await judgement.start(runId);
  const failed = await judgement.until(runId, 'failed');
  expect(failed).toMatchObject({
    ...{
      requests: 10,
      requests_done: 8,
      requests_failed: 4,
      wins: 2,
      error: expect.stringContaining('context'),
    },
  });
  expect(failed.rows.map(({ outcome }) => outcome)).toEqual(['win', 'win', 'open', 'open', 'open']);
  const first = costOf(...stub.requests.slice(0, 4).map(prefers('3 crowns!')));
  expect(await balance()).toEqual({ balance: before.balance - first, held: 0n });

  stub.answer = 'ok';
  stub.says = prefers('3 crowns!');
  stub.requests.length = 0;
  expect(await judgement.quote(runId, {})).toMatchObject({ requests: 6 });
  await judgement.start(runId, {});
  const done = await judgement.until(runId, 'completed');
  expect(done).toMatchObject({ wins: 5, requests_done: 10, requests_failed: 0, error: null });
  expect(stub.requests).toHaveLength(6);
  const cost = first + costOf(...stub.requests.map(stub.says));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
  expect(Number(done.cost_so_far) * 1e6).toBeCloseTo(Number(cost), 0);
  await expect(judgement.start(runId, {})).rejects.toThrow('The judge has nothing left to answer.');
});

test('one that is cancelled keeps and charges what was answered, and is asked anew by another', async () => {
  const before = await balance();
  stub.says = prefers('3 crowns!');
  const runId = await runOf(...LOAVES.map((loaf) => pair(loaf)));
  const goOn = holdAnswers(stub);
  await judgement.start(runId);
  await vi.waitFor(() => expect(stub.open).toBeGreaterThan(0));
  expect((await balance()).held).toBeGreaterThan(0n);
  await expect(judgement.start(runId)).rejects.toThrow('The judge is being asked.');
  expect((await judgement.cancel(runId)).status).toBe('cancelling');
  goOn();
  expect(await judgement.until(runId, 'cancelled')).toMatchObject({ requests_done: 4, wins: 2, held: '0' });
  const cost = costOf(...stub.requests.map(stub.says));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
  expect((await judgement.cancel(runId)).status).toBe('cancelled');
  // Another prompt begins at the beginning.
  stub.says = () => 'TIE';
  const prompt = 'Which is shorter? {{question}} [Answer A]{{answer_a}} [Answer B]{{answer_b}}';
  await judgement.start(runId, { settings: { ...settings, prompt } });
  expect(await judgement.until(runId, 'completed')).toMatchObject({
    ...{ ties: 5, wins: 0, requests_done: 10, settings: { prompt } },
  });
  expect(promptOf(stub.requests.at(-1) ?? {})).toMatch(/^Which is shorter\?/);
});

test('what a process has asked that died before it was kept is asked again, and charged once', async () => {
  const before = await balance();
  stub.says = prefers('3 crowns!');
  const runId = await runOf(pair('Rye'));
  const goOn = holdAnswers(stub);
  await judgement.start(runId);
  await vi.waitFor(() => expect(stub.open).toBe(2));
  // The lease is another's, who has died as well.
  await sql`update judgements set lock_token = ${randomUUID()}, locked_until = ${clock.now()}
    where run_id = ${runId}`.execute(server.services.db);
  goOn();
  clock.advance({ seconds: 30 });
  expect(await judgement.until(runId, 'completed')).toMatchObject({ wins: 1 });
  expect(stub.requests).toHaveLength(4);
  const cost = costOf(...stub.requests.slice(2).map(stub.says));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
});

test('where both always say the same nothing is asked, and it costs nothing', async () => {
  const before = await balance();
  const runId = await runOf(pair('Rye', { base: '3 crowns.', tuned: '3 crowns.\n' }));
  expect(await judgement.quote(runId)).toEqual({ requests: 0, highest_bgl: '0' });
  expect(await judgement.start(runId)).toMatchObject({ status: 'completed', ties: 1, requests: 0 });
  expect(stub.requests).toEqual([]);
  expect(await balance()).toEqual(before);
});

test('what cannot be judged is refused by its field, and nothing is held', async () => {
  const before = await balance();
  const runId = await runOf(pair('Rye'));
  const start = (more: object) => judgement.start(runId, { settings: { ...settings, ...more } });
  await expect(start({ prompt: 'Which is better, {{answer_a}} or B?' })).rejects.toThrow(
    'prompt must have {{question}}, {{answer_a}}, {{answer_b}} where the texts go',
  );
  await expect(start({ model: 'nobody' })).rejects.toMatchObject({
    ...{ status: 404, code: 'model_not_found' },
    body: { error: { param: 'settings.model' } },
  });
  await expect(judgement.start(runId, {})).rejects.toThrow('The judge has nothing left to answer.');
  await expect(judgement.cancel(runId)).rejects.toMatchObject({ status: 404 });
  const empty = await runOf();
  await expect(judgement.quote(empty)).rejects.toThrow('The run has no answers of both models');
  const bo = await server.signUp('Bo');
  await expect(judgement.get(runId, bo)).rejects.toMatchObject({ status: 404 });
  expect(await judgement.get(runId)).toBeNull();
  expect(await balance()).toEqual(before);
});

test('that of a deleted user ends, and is charged for what was kept', async () => {
  const before = await balance();
  const runId = await runOf(pair('Rye'));
  const goOn = holdAnswers(stub);
  await judgement.start(runId);
  await vi.waitFor(() => expect(stub.open).toBeGreaterThan(0));
  await sql`update judgements set cost_micro = 2 where run_id = ${runId}`.execute(server.services.db);
  await inTransaction(server.services.db, (tx) => forgetJudgements(tx, ada.userId));
  goOn();
  expect(await judgement.get(runId)).toBeNull();
  expect(await balance()).toEqual({ balance: before.balance - 2n, held: 0n });
});

test('it is in the export beside its run', async () => {
  stub.says = () => 'TIE';
  const runId = await runOf(pair('Rye'));
  await judgement.start(runId);
  const done = await judgement.until(runId, 'completed');
  const exported = await (await server.send(exportData, {}, { headers: { cookie: ada.cookie } })).json();
  expect(exported).toMatchObject({ runs: [{ run_id: runId, judgement: done }] });
});
