import { openAsBlob } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { createAsset, listAssets, previewFile, uploadFile } from '@bakehouse/contract/assets';
import { chatCompletions } from '@bakehouse/contract/chat';
import { listTransactions } from '@bakehouse/contract/credits';
import { describeColumns, searchRows } from '@bakehouse/contract/data-files';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { listGenerators } from '@bakehouse/contract/generators';
import { createImage, editImage } from '@bakehouse/contract/openai-images';
import { exportData } from '@bakehouse/contract/privacy';
import { search } from '@bakehouse/contract/search';
import { askAsVisitor, startVisitorPicture } from '@bakehouse/contract/visitors';

export type Target = {
  url: string;
  userId: string;
  /** A session and a key of the attacker. Attacks without an account use neither. */
  cookie: string;
  apiKey: string;
  /** The starter model's name in chat, and its asset. */
  model: string;
  modelId: string;
  /** The dataset that contains `files`. */
  dataset: string;
  files: { expanding: string; csv: string; picture: string; scans: string };
};

/** Calls that take longer are aborted and repeated, because no client would wait for them. */
const STRIKE_MS = 20_000;
/** Number of rows that `neighbours.ts` writes into the CSV file. */
export const CSV_ROWS = 200_000;

type Strike = () => Promise<unknown>;

/**
 * Every kind of call that keeps an idle machine busy for more than 50 ms, at the largest permitted size. One
 * user makes each of them, one at a time and eight at a time.
 */
export const attacks: Record<string, (target: Target) => Strike> = {
  /** 1,600 tokens that are not cached. */
  'long prompts': (target) => () => ask(target, { words: 1_500, max_tokens: 1 }),
  'short prompts': (target) => () => ask(target, { words: 20, max_tokens: 1 }),
  'long answers': (target) => () => ask(target, { words: 20, max_tokens: 1_000 }),
  /** A schema at the limits of `check-schema.ts`. */
  'constrained answers': (target) => () =>
    ask(target, {
      words: 20,
      max_tokens: 24,
      response_format: schema({ enum: Array.from({ length: 300 }, (_, n) => `${n} ${'rye '.repeat(20)}`) }),
    }),
  /** A pattern that takes minutes to process, and would block the model server's only loop. */
  'hostile schemas': (target) => () =>
    ask(target, {
      words: 1,
      max_tokens: 8,
      response_format: schema({ type: 'string', pattern: `^${'(a|b|)'.repeat(300)}$` }),
    }),
  'many candidates': (target) => () =>
    ask(target, { words: 1, max_tokens: 100, logprobs: true, top_logprobs: 20 }),
  pictures: (target) => () => send(target, createImage, { body: { prompt: 'A red bus on a street' } }),
  edits: (target) => () => sendFile(target, editImage, {}, 'image', target.files.picture, { prompt: 'Blue' }),
  'pictures of 40 megapixels': (target) => upload(target, target.files.picture),
  'progressive JPEGs': (target) => upload(target, target.files.scans),
  'large CSV files': (target) => upload(target, target.files.csv),
  previews: (target) => () =>
    send(target, previewFile, {
      params: { id: target.dataset },
      query: { ...csv(target), offset: CSV_ROWS },
    }),
  columns: (target) => () =>
    send(target, describeColumns, { params: { id: target.dataset }, query: csv(target) }),
  'searches in rows': (target) => () =>
    send(target, searchRows, {
      params: { id: target.dataset },
      query: { ...csv(target), text: 'nowhere to be found' },
    }),
  validation: (target) => () => validate(target, target.files.csv),
  /** A data file that is gigabytes when it is decompressed. */
  'expanding data': (target) => () => validate(target, target.files.expanding),
  'fine-tunes': (target) => () => fineTune(target),
  'data exports': (target) => () => send(target, exportData, {}),
  searches: (target) => () => send(target, search, { query: { query: 'e' } }),
  'lists of assets': (target) => () =>
    send(target, listAssets, { query: { owner: target.userId, search: 'e', include_starter: 'true' } }),
  'statements of transactions': (target) => () =>
    send(target, listTransactions, { params: { userId: target.userId }, query: { limit: 200 } }),
  /** Alternates between images and questions without an account, from one address and from a hundred. */
  'tries of a visitor': (target) => tries(target, 1),
  'tries of 100 visitors': (target) => tries(target, 100),
  /** JSON that is slow to parse, sent without an account. */
  'large JSON': ({ url }) => {
    const body = JSON.stringify({
      email: 'a@example.com',
      password: Array.from({ length: 1_100_000 }, () => 'x'),
    });
    return () => request(`${url}/api/auth/sign-in/email`, { origin: url, ...json }, body);
  },
  /** A megabyte of invalid parts of a message. */
  'invalid chats': ({ url, apiKey, model }) => {
    const content = Array.from({ length: 50_000 }, () => ({ type: 'no' }));
    const body = JSON.stringify({ model, messages: [{ role: 'user', content }] });
    return () => request(url + chatCompletions.path, { 'x-api-key': apiKey, ...json }, body);
  },
  /** Pipelines many requests without an account, and does not read the responses. */
  'pipelined requests':
    ({ url }) =>
    () =>
      pipeline(new URL(listGenerators.path, url), 800),
  /** Sign-ins, because hashing a password is expensive by design. */
  'password checks': ({ url, cookie }) => {
    const body = JSON.stringify({ currentPassword: 'not-the-password', newPassword: 'another-password' });
    return () => request(`${url}/api/auth/change-password`, { origin: url, cookie, ...json }, body);
  },
};

const json = { 'content-type': 'application/json' };
const csv = ({ files }: Target) => ({ path: path.basename(files.csv) });
const vocabulary = ['bread', 'oven', 'flour', 'water', 'salt', 'yeast', 'dough', 'crust', 'loaf', 'knead'];

function schema(of: object): object {
  return { type: 'json_schema', json_schema: { name: 'x', schema: of } };
}

function ask(
  target: Target,
  { words, ...parameters }: { words: number; max_tokens: number; [more: string]: unknown },
): Promise<unknown> {
  const word = () => vocabulary[Math.floor(Math.random() * vocabulary.length)];
  const content = Array.from({ length: words }, word).join(' ');
  return send(target, chatCompletions, {
    body: { model: target.model, messages: [{ role: 'user', content }], ...parameters },
  });
}

function validate(target: Target, file: string): Promise<unknown> {
  const columns = { input_column: 'question', output_column: 'answer' };
  return send(target, validateFineTune, {
    body: {
      dataset_id: target.dataset,
      file_name: path.basename(file),
      model_id: target.modelId,
      ...columns,
    },
  });
}

function fineTune(target: Target): Promise<unknown> {
  const title = `Bench ${Math.random()}`;
  return send(target, createAsset, {
    body: {
      dataset_type: 'MODEL',
      title,
      user_id: target.userId,
      fine_tune_payload: {
        asset_id: target.dataset,
        model_name: title,
        base_model: target.modelId,
        file_name: path.basename(target.files.csv),
        user_id: target.userId,
        input_column: 'question',
        output_column: 'answer',
      },
    },
  });
}

function upload(target: Target, file: string): Strike {
  return () => sendFile(target, uploadFile, { id: target.dataset }, 'data_file', file);
}

async function sendFile(
  target: Target,
  endpoint: Endpoint,
  params: object,
  part: string,
  file: string,
  fields: Record<string, string> = {},
): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  // A new name each time, because uploading the same bytes under the same name would do nothing.
  form.set(part, await openAsBlob(file), `${Math.random()}-${path.basename(file)}`);
  await request(target.url + endpointUrl(endpoint.path, params), { 'x-api-key': target.apiKey }, form);
}

function tries({ url }: Target, addresses: number): Strike {
  let tried = 0;
  const calls = [
    [startVisitorPicture, { prompt: 'A red bus on a street' }],
    [askAsVisitor, { question: 'What is bread made of?' }],
  ] as const;
  return () => {
    const [endpoint, body] = calls[tried % 2 === 0 ? 0 : 1];
    tried += 1;
    const address = `203.0.113.${tried % addresses}`;
    return request(url + endpoint.path, { 'x-forwarded-for': address, ...json }, JSON.stringify(body));
  };
}

type Call = { params?: object; query?: object; body?: object };

function send(target: Target, endpoint: Endpoint, { params, query, body }: Call): Promise<void> {
  const caller: Record<string, string> =
    endpoint.access === 'session' ? { cookie: target.cookie } : { 'x-api-key': target.apiKey };
  const key: Record<string, string> = endpoint.spends ? { 'idempotency-key': crypto.randomUUID() } : {};
  const url = target.url + endpointUrl(endpoint.path, params, query);
  if (body === undefined) return request(url, caller);
  return request(url, { ...caller, ...key, ...json }, JSON.stringify(body));
}

/** Throws if the call is rejected, cut off or too slow. */
async function request(
  url: string,
  headers: Record<string, string>,
  body?: string | FormData,
): Promise<void> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(STRIKE_MS),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`refused with ${response.status}`);
}

/** Pipelines requests on one connection. Throws if the connection closes without a response. */
async function pipeline({ hostname, port, pathname }: URL, requests: number): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), timeout: STRIKE_MS });
  socket.once('timeout', () => socket.destroy());
  const one = (more: string) => `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n${more}\r\n`;
  socket.end(one('').repeat(requests - 1) + one('connection: close\r\n'));
  let answered = 0;
  for await (const bytes of socket) answered += (bytes as Buffer).length;
  if (answered === 0) throw new Error('cut off');
}
