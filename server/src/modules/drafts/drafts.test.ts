import { randomUUID } from 'node:crypto';
import { downloadFile } from '@bakehouse/contract/assets';
import * as contract from '@bakehouse/contract/drafts';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import type { TestUser } from '../../testing/test-server.ts';
import { STARTER, starterServing } from '../deployments/testing/starter-serving.ts';
import { holdAnswers, stubUsage } from '../deployments/testing/stub-model-server.ts';
import { sourceCalls } from '../fine-tuning/testing/source-calls.ts';
import { draftCalls } from './testing/draft-calls.ts';
import { makePdf } from './testing/make-documents.ts';

/* Tests drafts from the upload of documents to rows in a dataset, with a stubbed model. */

const { server, stub, clock, nextUser, balance } = await starterServing();
const drafts = draftCalls(server);
const { create: createAsset } = sourceCalls(server);

let ada: TestUser;
beforeEach(async () => {
  ada = await nextUser();
});

const NOTES = '# Spelt\nSpelt is baked in the Spelt oven.';
const settings = { model: STARTER, rows_per_chunk: 1, chunk_characters: 500, overlap_characters: 0 };
/** Returns a PDF with one page per loaf. Each page fills one chunk and names only its loaf. */
const pages = (...loaves: string[]) =>
  makePdf(
    loaves.map((loaf) =>
      Array.from({ length: 9 }, (_, at) => `${loaf} is baked in the ${loaf} oven, ${at} times a day.`),
    ),
  );
const textOf = (body: Record<string, unknown>) =>
  (body.messages as { content: string }[])[0]?.content.split('Text:\n')[1] ?? '';
/** Answers with one question about the first word of the text. */
const answers = (body: Record<string, unknown>): string => {
  const [loaf = ''] = /\w+/.exec(textOf(body)) ?? [];
  return JSON.stringify({ rows: [{ question: `Where is ${loaf} baked?`, answer: `In the ${loaf} oven.` }] });
};
/** Returns the price of these answers at the batch rate. */
const costOf = (...said: string[]) =>
  said.reduce((sum, text) => {
    const written = Math.ceil(text.length / 4);
    return sum + BigInt(Math.ceil((stubUsage.prompt_tokens * 250_000 + written * 1_000_000) / 1e6));
  }, 0n);

test('writes rows from documents with their sources, charged once', async () => {
  stub.says = answers;
  const before = await balance();
  const id = await drafts.create(ada, {
    'bread.pdf': pages('Rye', 'Oat'),
    'notes.md': NOTES,
  });
  const quote = await drafts.quote(ada, id, settings);
  expect(quote).toMatchObject({ chunks: 3, rows_max: 3 });
  await drafts.start(ada, id, settings, 'once');
  await drafts.start(ada, id, settings, 'once');
  const done = await drafts.until(ada, id, 'completed');
  expect(done).toMatchObject({
    ...{ chunks: 3, chunks_done: 3, chunks_failed: 0, rows: 3, rows_saved: 0, dropped: {}, error: null },
    documents: [
      { name: 'bread.pdf', pages: 2, empty_pages: 0 },
      { name: 'notes.md', pages: null },
    ],
    held: '0',
  });
  expect(stub.requests).toHaveLength(3);
  expect(stub.requests[0]).toMatchObject({ grammar: expect.stringContaining('root ::= ') });
  const cost = costOf(...stub.requests.map(answers));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
  const { rows } = await drafts.rows(ada, id);
  expect(rows.map(({ question, source }) => [question, source])).toEqual([
    ['Where is Rye baked?', 'bread.pdf, page 1'],
    ['Where is Oat baked?', 'bread.pdf, page 2'],
    ['Where is Spelt baked?', 'notes.md, Spelt'],
  ]);
  const [rye] = rows;
  const chunk = await server.request(
    contract.getChunk,
    { params: { draft_id: id, number: rye?.chunk ?? 0 } },
    { as: ada },
  );
  expect(chunk).toMatchObject({
    source: 'bread.pdf, page 1',
    text: expect.stringContaining('Rye oven, 8 times'),
  });
});

test('edits, deletes and saves rows in a dataset once', async () => {
  stub.says = answers;
  const id = await drafts.create(ada, { 'bread.pdf': pages('Rye', 'Oat'), 'notes.md': NOTES });
  await drafts.start(ada, id, settings);
  await drafts.until(ada, id, 'completed');
  const [rye, oat] = (await drafts.rows(ada, id)).rows;
  const dataset = await createAsset(ada, 'RAW', 'Bread', { 'documents.jsonl': '{"messages": []}' });
  const change = {
    params: { draft_id: id, row_id: rye?.row_id ?? '' },
    body: { question: ' Where is rye baked? ', answer: 'In its oven.' },
  };
  expect(await server.request(contract.changeDraftRow, change, { as: ada })).toMatchObject({
    question: 'Where is rye baked?',
  });
  const gone = { params: { draft_id: id }, body: { row_ids: [oat?.row_id ?? ''] } };
  expect(await server.request(contract.deleteDraftRows, gone, { as: ada })).toEqual({ deleted: 1 });
  const saved = await drafts.save(ada, id, { asset_id: dataset }, 'saved');
  expect(saved).toMatchObject({ file_name: 'documents.jsonl', saved: 2 });
  expect(await drafts.save(ada, id, { asset_id: dataset }, 'saved')).toEqual(saved);
  await expect(drafts.save(ada, id, { asset_id: dataset })).rejects.toThrow('These rows are saved already');
  await expect(server.request(contract.changeDraftRow, change, { as: ada })).rejects.toThrow(
    'The row is saved in a dataset already',
  );
  const file = await server.send(
    downloadFile,
    { params: { id: dataset, '*': 'documents.jsonl' }, query: {} },
    { as: ada },
  );
  const said = (content: string, role = 'user') => ({ role, content });
  expect(
    (await file.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([
    { messages: [] },
    {
      messages: [said('Where is rye baked?'), said('In its oven.', 'assistant')],
      source: 'bread.pdf, page 1',
    },
    {
      messages: [said('Where is Spelt baked?'), said('In the Spelt oven.', 'assistant')],
      source: 'notes.md, Spelt',
    },
  ]);
  expect(await drafts.get(ada, id)).toMatchObject({ rows: 2, rows_saved: 2 });
  const audited = await server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'asset.committed')
    .where('user_id', '=', ada.userId)
    .execute();
  expect(audited).toEqual([{ detail: { asset_id: dataset, put: '1', removed: '0' } }]);
});

test('an answer without valid rows adds no rows and is counted by reason', async () => {
  const id = await drafts.create(ada, { 'bread.pdf': pages('Rye', 'Oat') });
  stub.says = () => 'I like bread.';
  await drafts.start(ada, id, settings);
  expect(await drafts.until(ada, id, 'completed')).toMatchObject({ rows: 0, dropped: { unreadable: 2 } });
  stub.says = () => '{"rows": [{"question": "Bread?", "answer": "Yes."}, {"question": "", "answer": "No."}]}';
  await drafts.start(ada, id, settings);
  expect(await drafts.until(ada, id, 'completed')).toMatchObject({
    ...{ rows: 1, dropped: { empty: 2, duplicate: 1 } },
  });
});

test('a draft fails at no cost if the model fails, and can be resumed', async () => {
  const before = await balance();
  const loaves = ['Rye', 'Oat', 'Spelt', 'Corn', 'Barley', 'Wheat'];
  const id = await drafts.create(ada, { 'bread.pdf': pages(...loaves) });
  stub.answer = 'refuse';
  await drafts.start(ada, id, settings);
  const failed = await drafts.until(ada, id, 'failed');
  expect(failed).toMatchObject({ chunks: 6, chunks_done: 4, chunks_failed: 4, rows: 0, cost_so_far: '0' });
  expect(failed.error).toContain('context');
  expect(await balance()).toEqual(before);

  stub.answer = 'ok';
  stub.says = answers;
  stub.requests.length = 0;
  expect(await drafts.quote(ada, id)).toMatchObject({ chunks: 6 });
  await drafts.start(ada, id);
  expect(await drafts.until(ada, id, 'completed')).toMatchObject({
    chunks_done: 6,
    chunks_failed: 0,
    rows: 6,
  });
  expect(stub.requests).toHaveLength(6);
  const cost = costOf(...stub.requests.map(answers));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
  await expect(drafts.start(ada, id)).rejects.toThrow('The draft has no chunks without an answer.');
});

test('a cancelled draft stores and charges its answers, and a resume does not charge them again', async () => {
  const before = await balance();
  stub.says = answers;
  const id = await drafts.create(ada, { 'bread.pdf': pages('Rye', 'Oat', 'Spelt', 'Corn', 'Barley') });
  const goOn = holdAnswers(stub);
  await drafts.start(ada, id, settings);
  await vi.waitFor(() => expect(stub.open).toBeGreaterThan(0));
  expect((await balance()).held).toBeGreaterThan(0n);
  await expect(drafts.start(ada, id, settings)).rejects.toThrow('The draft is being written.');
  expect(await drafts.add(ada, id, 'more.txt', 'More')).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('is being written') } },
  });
  expect((await drafts.cancel(ada, id)).status).toBe('cancelling');
  goOn();
  expect(await drafts.until(ada, id, 'cancelled')).toMatchObject({ chunks: 5, chunks_done: 4, rows: 4 });
  await drafts.start(ada, id);
  const done = await drafts.until(ada, id, 'completed');
  expect(done).toMatchObject({ chunks_done: 5, rows: 5 });
  expect(stub.requests).toHaveLength(5);
  const cost = costOf(...stub.requests.map(answers));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
  expect(Number(done.cost_so_far) * 1e6).toBeCloseTo(Number(cost), 0);
});

test('an expired draft fails, but its rows are stored and charged', async () => {
  const before = await balance();
  stub.says = answers;
  const id = await drafts.create(ada, { 'bread.pdf': pages('Rye', 'Oat', 'Spelt', 'Corn', 'Barley') });
  const goOn = holdAnswers(stub);
  await drafts.start(ada, id, settings);
  await vi.waitFor(() => expect(stub.open).toBeGreaterThan(0));
  await sql`update bulk_answers set expires_at = ${clock.now()} where id = ${id}`.execute(server.services.db);
  goOn();
  expect(await drafts.until(ada, id, 'failed')).toMatchObject({
    ...{ rows: 4, chunks_done: 4, error: expect.stringContaining('were not read within a day') },
  });
  const cost = costOf(...stub.requests.map(answers));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
});

test('repeats requests whose answers a dead process had not saved, and charges them once', async () => {
  const before = await balance();
  stub.says = answers;
  const id = await drafts.create(ada, { 'bread.pdf': pages('Rye', 'Oat') });
  const goOn = holdAnswers(stub);
  await drafts.start(ada, id, settings);
  await vi.waitFor(() => expect(stub.open).toBe(2));
  // Simulates that another process took over the lease and died too.
  await sql`update bulk_answers set lock_token = ${randomUUID()}, locked_until = ${clock.now()}
    where id = ${id}`.execute(server.services.db);
  goOn();
  clock.advance({ seconds: 30 });
  expect(await drafts.until(ada, id, 'completed')).toMatchObject({ rows: 2, dropped: {} });
  expect(stub.requests).toHaveLength(4);
  const cost = costOf(...stub.requests.slice(2).map(answers));
  expect(await balance()).toEqual({ balance: before.balance - cost, held: 0n });
});

test('rejects a draft with the invalid field and holds nothing', async () => {
  const before = await balance();
  const empty = await drafts.create(ada);
  await expect(drafts.quote(ada, empty, settings)).rejects.toThrow('The draft has no documents.');
  const id = await drafts.create(ada, { 'notes.txt': 'Rye bread.' });
  const start = (more: object) => drafts.start(ada, id, { ...settings, ...more });
  await expect(start({ prompt: 'Write rows' })).rejects.toThrow('prompt must have {{text}}');
  await expect(start({ overlap_characters: 400 })).rejects.toThrow('Overlap must be at most half');
  await expect(start({ rows_per_chunk: 21 })).rejects.toThrow('Rows per chunk must be at most 20');
  await expect(start({ model: 'nobody' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  await expect(drafts.start(ada, id)).rejects.toThrow('The draft has no chunks without an answer.');
  expect(await drafts.get(ada, id)).toMatchObject({ status: 'open' });
  expect(await balance()).toEqual(before);
});

test('rejects documents without text by name, and removes a document with its rows', async () => {
  const id = await drafts.create(ada, { 'notes.txt': 'Oat bread.' });
  const refusals: [string, Buffer | string, number, string][] = [
    [
      'scan.pdf',
      makePdf([[], []]),
      400,
      'scan.pdf has no text: its pages are pictures. Make them text with OCR',
    ],
    ['blank.md', '---\n', 400, 'blank.md has no text.'],
    ['sheet.xlsx', 'x', 400, 'sheet.xlsx cannot be read. Documents are .pdf, .docx, .md or .txt files.'],
    ['broken.pdf', '%PDF-1.4', 400, 'broken.pdf is not a PDF that can be read'],
    ['notes.txt', 'More', 409, 'notes.txt is in the draft already'],
    ['long.txt', 'bread '.repeat(400_000), 400, 'long.txt has 2,399,999 characters of text'],
  ];
  for (const [name, bytes, status, message] of refusals)
    expect(await drafts.add(ada, id, name, bytes)).toMatchObject({
      status,
      body: { error: { message: expect.stringContaining(message) } },
    });
  const half = await drafts.add(ada, id, 'half.pdf', makePdf([['Rye'], []]));
  expect(half.body).toMatchObject({ pages: 2, empty_pages: 1, characters: 3 });
  const { documents } = await drafts.get(ada, id);
  expect(documents.map(({ name }) => name)).toEqual(['notes.txt', 'half.pdf']);
  stub.says = answers;
  await drafts.start(ada, id, settings);
  await drafts.until(ada, id, 'completed');
  const removed = { params: { draft_id: id, document_id: documents[0]?.document_id ?? '' } };
  await server.request(contract.removeDocument, removed, { as: ada });
  const { rows } = await drafts.rows(ada, id, { limit: 1 });
  expect(rows.map(({ source }) => source)).toEqual(['half.pdf, page 1']);
});

test('lists rows by page and by document', async () => {
  stub.says = answers;
  const id = await drafts.create(ada, { 'one.pdf': pages('Rye', 'Oat'), 'two.pdf': pages('Corn') });
  await drafts.start(ada, id, settings);
  const { documents } = await drafts.until(ada, id, 'completed');
  const first = await drafts.rows(ada, id, { limit: 2 });
  expect(first.rows.map(({ source }) => source)).toEqual(['one.pdf, page 1', 'one.pdf, page 2']);
  const rest = await drafts.rows(ada, id, { limit: 2, cursor: first.next_cursor ?? '' });
  expect(rest).toMatchObject({ rows: [{ source: 'two.pdf, page 1' }], next_cursor: null });
  const second = await drafts.rows(ada, id, { document_id: documents[1]?.document_id });
  expect(second.rows).toEqual(rest.rows);
});

test('limits a user to ten drafts, and allows another one after a deletion', async () => {
  const ids = [];
  for (let made = 0; made < contract.DRAFTS_MAX; made += 1) ids.push(await drafts.create(ada));
  await expect(drafts.create(ada)).rejects.toThrow('You can have 10 drafts.');
  await server.request(contract.deleteDraft, { params: { draft_id: ids[0] ?? '' } }, { as: ada });
  await drafts.create(ada);
  const { drafts: listed } = await server.request(contract.listDrafts, {}, { as: ada });
  expect(listed).toHaveLength(contract.DRAFTS_MAX);
});
