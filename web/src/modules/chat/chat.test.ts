import { afterEach, expect, it, vi } from 'vitest';
import { ApiError } from '../../lib/api/api-error.ts';
import { setCredentials } from '../../lib/api/credentials.ts';
import { speedOf, streamChat } from './chat.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('measures speed from the second token', () => {
  expect(speedOf(100, 1_100, 11)).toEqual({ firstTokenMs: 100, tokens: 11, tokensPerSecond: 10 });
  expect(speedOf(100, 100, 1).tokensPerSecond).toBeNull();
});

it('separates thoughts from the answer, and counts their first token', async () => {
  const deltas = [{ reasoning_content: 'Hm, ' }, { reasoning_content: 'bread' }, { content: 'Rye' }];
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  const events = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => new Response(events.join(''))),
  );
  const [answer, thoughts]: [string[], string[]] = [[], []];
  await streamChat(
    { model: 'rye', messages: [], options: { temperature: 1, max_tokens: 9 } },
    { onText: (text) => answer.push(text), onThought: (text) => thoughts.push(text) },
    new AbortController().signal,
  );
  expect([thoughts.join(''), answer.join('')]).toEqual(['Hm, bread', 'Rye']);
});

it('assembles tool calls from pieces and requests them as functions', async () => {
  const piece = (index: number, more: object) => ({ tool_calls: [{ index, ...more }] });
  const deltas = [
    piece(0, { id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } }),
    piece(0, { function: { arguments: '{"a":' } }),
    piece(0, { function: { arguments: '1}' } }),
    piece(1, { id: 'call_2', type: 'function', function: { name: 'now', arguments: '{}' } }),
  ];
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  const events = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
  const fetched = vi.fn<(url: string, init: RequestInit) => Promise<Response>>(
    async () => new Response(events.join('')),
  );
  vi.stubGlobal('fetch', fetched);
  const seen: unknown[] = [];
  const definitions = [{ type: 'function', function: { name: 'add' } }];
  await streamChat(
    {
      ...{ model: 'rye', messages: [], options: { temperature: 1, max_tokens: 9 } },
      tools: { definitions, required: true },
    },
    { onText: () => undefined, onCalls: (calls) => seen.push(calls) },
    new AbortController().signal,
  );
  expect(JSON.parse(fetched.mock.calls[0]?.[1].body as string)).toMatchObject({
    tools: definitions,
    tool_choice: 'required',
  });
  expect(seen).toHaveLength(4);
  expect(seen[1]).toEqual([{ id: 'call_1', name: 'add', arguments: '{"a":' }]);
  expect(seen[3]).toEqual([
    { id: 'call_1', name: 'add', arguments: '{"a":1}' },
    { id: 'call_2', name: 'now', arguments: '{}' },
  ]);
});

it('an error in the middle of an answer has its code and amounts', async () => {
  const events = [
    { choices: [{ delta: { content: 'Rye ' } }] },
    {
      error: {
        code: 'insufficient_funds',
        message: 'Insufficient balance. Required: 2 BGL',
        request_id: 'r1',
        required_amount: '2',
        available_amount: '0.5',
      },
    },
  ];
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  vi.stubGlobal(
    'fetch',
    vi.fn(async () => new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))),
  );
  const pieces: string[] = [];
  const asked = streamChat(
    {
      model: 'rye',
      messages: [{ role: 'user', content: 'Which bread?' }],
      options: { temperature: 1, max_tokens: 9 },
    },
    { onText: (text) => pieces.push(text) },
    new AbortController().signal,
  );
  const error = await asked.catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    code: 'insufficient_funds',
    requiredAmount: '2',
    availableAmount: '0.5',
    requestId: 'r1',
  });
  expect(pieces).toEqual(['Rye ']);
});

it('aborts an answer after a minute of silence; server comments reset the timer', async () => {
  vi.useFakeTimers();
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  let send = (_text: string) => {};
  vi.stubGlobal(
    'fetch',
    vi.fn(async (_url: string, { signal }: RequestInit) => {
      const body = new ReadableStream({
        start: (stream) => {
          send = (text) => stream.enqueue(new TextEncoder().encode(text));
          signal?.addEventListener('abort', () => stream.error(new DOMException('Aborted', 'AbortError')));
        },
      });
      return new Response(body);
    }),
  );
  const pieces: string[] = [];
  let failure: unknown;
  streamChat(
    { model: 'rye', messages: [], options: { temperature: 1, max_tokens: 9 } },
    { onText: (text) => pieces.push(text) },
    new AbortController().signal,
  ).catch((error: unknown) => (failure = error));
  await vi.advanceTimersByTimeAsync(0);
  send(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Rye' } }] })}\n\n`);
  await vi.advanceTimersByTimeAsync(50_000);
  send(': waiting\n\n');
  await vi.advanceTimersByTimeAsync(50_000);
  expect(failure).toBeUndefined();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({
    message: 'The connection was lost while the model was answering. Please ask again.',
  });
  expect(pieces).toEqual(['Rye']);
});
