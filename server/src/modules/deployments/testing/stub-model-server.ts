import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReportsAnswer } from '@bakehouse/contract/runtime/report';
import { postWorkloadReports } from '@bakehouse/contract/workloads';
import type { Script } from '../../../engine/drivers/fake/fake-driver.ts';
import { sendHeartbeats } from '../../../engine/testing/send-heartbeats.ts';

/**
 * How the model server answers the next requests. `ok` writes 'Good bread.' in four tokens. `flood` streams
 * more than all socket buffers can take. `hold` waits for `held` after each token.
 */
export type StubAnswer = 'ok' | 'refuse' | 'crash' | 'break off' | 'hang' | 'flood' | 'hold' | 'bloat';

type StubCall = { name: string; arguments: object };

export type Stub = {
  /** Script for the fake driver: a model server in this process that speaks llama.cpp's format. */
  script: Script;
  /** Bodies of the completion requests received. */
  requests: Record<string, unknown>[];
  /** Number of requests that are being answered. */
  open: number;
  /** Number of requests whose client disconnected before the answer was complete. */
  disconnected: number;
  /** Number of tokens that the current flood has written. */
  floodTokens: number;
  answer: StubAnswer;
  /** Returns the text of an answer, instead of 'Good bread.' */
  says: ((body: Record<string, unknown>) => string) | null;
  /** Returns the tool call for a request; null to answer with text. */
  calls: ((body: Record<string, unknown>) => StubCall | null) | null;
  /** Answers on `hold` wait for this. */
  held: Promise<void>;
  /** Starting servers wait for this before they become ready. */
  gate: Promise<void>;
  /** Starting servers end with this message instead of becoming ready. */
  failure: string | null;
  /** Starting servers that carry this adapter (revision id) fail. */
  brokenAdapter: string | null;
  /** The adapters that the last answer to a report wants; undefined if it unloads none. */
  wantedAdapters: string[] | undefined;
  /** One function per ready server, which reports that its slot is being withdrawn. */
  leave: (() => Promise<unknown>)[];
};

const tokens = ['Good', ' ', 'bread', '.'];
export const stubUsage = { prompt_tokens: 11, completion_tokens: tokens.length, total_tokens: 15 };

/** For tests: replaces the Python runtime with llama.cpp. */
export function stubModelServer(): Stub {
  const stub: Stub = {
    requests: [],
    open: 0,
    disconnected: 0,
    floodTokens: 0,
    ...{ answer: 'ok' as const, says: null, calls: null },
    held: Promise.resolve(),
    gate: Promise.resolve(),
    ...{ failure: null, brokenAdapter: null, wantedAdapters: undefined, leave: [] },
    script: async (launch, { stop, killed, print }) => {
      const post = (reports: object[]) =>
        fetch(launch.server.base_url + postWorkloadReports.path.replace(':workloadId', launch.workloadId), {
          method: 'POST',
          headers: { authorization: `Bearer ${launch.server.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ reports }),
        });
      // Like the runtime, continue the sequence numbers of the previous attempt.
      const { accepted_seq } = (await (await post([])).json()) as { accepted_seq: number };
      const report = (number: number, body: object) =>
        post([{ seq: accepted_seq + number, at: new Date().toISOString(), ...body }]);
      await report(1, { type: 'phase', phase: 'loading model' });
      await stub.gate;
      const { spec } = launch;
      const broken = 'adapters' in spec && spec.adapters.some(({ name }) => name === stub.brokenAdapter);
      const failure = broken ? 'An adapter does not fit' : stub.failure;
      if (failure) {
        await report(2, { type: 'failed', message: failure });
        return 1;
      }
      let inFlight = 0;
      const server = createServer((request, response) => {
        inFlight += 1;
        response.on('close', () => (inFlight -= 1));
        response.on('close', () => {
          if (!response.writableFinished) stub.disconnected += 1;
        });
        if (request.headers.authorization !== `Bearer ${launch.serverKey}`) {
          response.writeHead(401).end();
          return;
        }
        readJson(request)
          .then((body) => {
            stub.requests.push(body);
            // The client may have disconnected while the body was read, in which case no event follows.
            if (response.destroyed) return;
            stub.open += 1;
            response.on('close', () => (stub.open -= 1));
            return respond(stub, { url: request.url ?? '', body }, response);
          })
          .catch(() => response.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      print('model loaded');
      await report(2, { type: 'ready', base_url: `http://127.0.0.1:${port}` });
      stub.leave.push(() => report(3, { type: 'leaving', within_seconds: 1770 }));
      const life = signsOfLife(post, { inFlight: () => inFlight, stub });
      await ended(AbortSignal.any([stop, killed, life.drained]));
      life.end();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 200).unref();
      });
      return 0;
    },
  };
  return stub;
}

/**
 * Loads the adapters that responses to its reports name, and sends heartbeats. Aborts `drained` when the
 * server has asked it to stop and no request is running.
 */
function signsOfLife(
  post: (reports: object[]) => Promise<Response>,
  { inFlight, stub }: { inFlight: () => number; stub: Stub },
) {
  const drained = new AbortController();
  const give = async () => {
    const reply = (await (await post([])).json()) as ReportsAnswer;
    if (reply.command === 'stop' && inFlight() === 0) drained.abort();
    stub.wantedAdapters = reply.wanted_adapters;
    for (const [index, { name }] of (reply.adapters ?? []).entries()) {
      const failure = name === stub.brokenAdapter ? 'An adapter does not fit' : null;
      const numbered = { seq: reply.accepted_seq + index + 1, at: new Date().toISOString() };
      await post([{ ...numbered, type: 'adapter', name, failure }]);
    }
  };
  return { drained: drained.signal, end: sendHeartbeats(give) };
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

async function respond(
  stub: Stub,
  { url, body }: { url: string; body: Record<string, unknown> },
  response: ServerResponse,
): Promise<void> {
  if (url.endsWith('/input_tokens'))
    return void response.end(JSON.stringify({ input_tokens: stubUsage.prompt_tokens }));
  return stub.answer === 'flood' ? flood(stub, response) : answer(stub, body, response);
}

async function answer(stub: Stub, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
  const { answer: kind } = stub;
  if (kind === 'hang') return;
  if (kind === 'crash')
    return void response.writeHead(500).end('{"error":{"code":500,"message":"out of memory"}}');
  if (kind === 'refuse') {
    const error = {
      code: 400,
      message: 'the request exceeds the available context size',
      type: 'invalid_request_error',
    };
    return void response
      .writeHead(400, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error }));
  }
  if (Array.isArray(body.input))
    return embed(body.input as string[], response, kind === 'bloat' ? 1024 ** 2 : 16);
  const base = { id: 'chatcmpl-1', created: 1, model: 'base' };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (data: object) =>
    response.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...data })}\n\n`);
  const called = stub.calls?.(body);
  if (called) return call(called, send, response);
  const said = stub.says?.(body);
  const stops = [body.stop ?? []].flat() as string[];
  const stoppedBy = stops.find((stop) => said?.includes(stop));
  const words = (stoppedBy === undefined ? said : said?.split(stoppedBy)[0])?.match(/.{1,4}/gs) ?? tokens;
  for (const [index, content] of (kind === 'break off' ? words.slice(0, 2) : words).entries()) {
    const timings = { cache_n: 4, prompt_n: stubUsage.prompt_tokens - 4, predicted_n: index + 1 };
    const piece = body.prompt === undefined ? { delta: { content } } : { text: content };
    const chunk = { choices: [{ index: 0, ...piece, finish_reason: null }] };
    send({ ...chunk, ...kindOf(body), ...(body.timings_per_token === true && { timings }) });
    if (kind === 'hold') await stub.held;
  }
  if (kind === 'break off') return void setTimeout(() => response.destroy(), 20);
  const verbose = body.verbose === true && { __verbose: { stopping_word: stoppedBy ?? '' } };
  const piece = body.prompt === undefined ? { delta: {} } : { text: '' };
  send({ choices: [{ index: 0, ...piece, finish_reason: 'stop' }], ...kindOf(body), ...verbose });
  const written = { completion_tokens: words.length, total_tokens: stubUsage.prompt_tokens + words.length };
  send({ choices: [], usage: { ...stubUsage, ...written } });
  response.end('data: [DONE]\n\n');
}

/** Sends a tool call as llama.cpp does after parsing the model's text. */
function call(called: StubCall, send: (data: object) => void, response: ServerResponse): void {
  const said = { name: called.name, arguments: JSON.stringify(called.arguments) };
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: said }];
  send({ choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
  send({ choices: [], usage: stubUsage });
  response.end('data: [DONE]\n\n');
}

function kindOf(body: Record<string, unknown>): object {
  return body.prompt === undefined ? {} : { object: 'text_completion' };
}

/**
 * Counts one token per letter plus two, at most 256. The vector contains this number of bytes, which encode
 * the text's length.
 */
function embed(inputs: string[], response: ServerResponse, bytes: number): void {
  const counts = inputs.map(({ length }) => length + 2);
  const index = counts.findIndex((count) => count > 256);
  response.setHeader('content-type', 'application/json');
  if (index >= 0) {
    const error = { message: 'too long', type: 'exceed_context_size_error', index, n_ctx: 256 };
    return void response
      .writeHead(400)
      .end(JSON.stringify({ error: { ...error, n_prompt_tokens: counts[index] } }));
  }
  const data = inputs.map(({ length }, place) => {
    const vector = Buffer.alloc(bytes);
    for (const [at, number] of [Math.sin(length), Math.cos(length), 0, 0].entries())
      vector.writeFloatLE(number, at * 4);
    return { object: 'embedding', index: place, embedding: vector.toString('base64') };
  });
  const read = counts.reduce((sum, count) => sum + count, 0);
  response.end(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: read } }));
}

export const FLOOD_TOKENS_MAX = 4000;

/** Writes as fast as the client reads, until the client disconnects. */
async function flood(stub: Stub, response: ServerResponse): Promise<void> {
  const closed = once(response, 'close');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const content = 'bread '.repeat(3000);
  stub.floodTokens = 0;
  while (!response.destroyed && stub.floodTokens < FLOOD_TOKENS_MAX) {
    stub.floodTokens += 1;
    const timings = { cache_n: 0, prompt_n: stubUsage.prompt_tokens, predicted_n: stub.floodTokens };
    const event = { choices: [{ index: 0, delta: { content }, finish_reason: null }], timings };
    if (!response.write(`data: ${JSON.stringify(event)}\n\n`)) {
      await Promise.race([once(response, 'drain'), closed]);
    }
  }
  await closed;
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Holds responses until the returned function is called. */
export function holdAnswers(stub: Stub): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  stub.answer = 'hold';
  stub.held = promise;
  return () => {
    stub.answer = 'ok';
    resolve();
  };
}
