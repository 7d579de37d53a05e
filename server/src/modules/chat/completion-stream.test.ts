import { describe, expect, it } from 'vitest';
import { WholeAnswer } from './answer-shape.ts';
import { AnswerFailed, type Chunk, CompletionStream } from './completion-stream.ts';

const llamacpp = { engine: 'llamacpp', modelName: 'loaf', candidates: 2 } as const;
const vllm = { ...llamacpp, engine: 'vllm' } as const;
const head = { id: 'c1', object: 'chat.completion.chunk', created: 7, model: 'base' };
const timings = (prompt_n: number, predicted_n: number) => ({
  cache_n: 4,
  prompt_n,
  prompt_ms: 1.5,
  predicted_n,
});
const event = (data: object) => `data: ${JSON.stringify({ ...head, ...data })}\n\n`;
const token = (content: string, count: number, more: object = {}) =>
  event({
    choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }],
    system_fingerprint: 'b1',
    timings: timings(3, count),
  });
const last = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], timings: timings(3, 2) });
const usage = event({
  choices: [],
  usage: {
    prompt_tokens: 7,
    completion_tokens: 2,
    total_tokens: 9,
    prompt_tokens_details: { cached_tokens: 4 },
  },
  timings: timings(3, 2),
});
const whole = `${event({ choices: [{ delta: { role: 'assistant', content: null } }] })}${token('Hel', 1)}${token('lo', 2)}${last}${usage}data: [DONE]\n\n`;

function read(text: string, options: ConstructorParameters<typeof CompletionStream>[0] = llamacpp) {
  const stream = new CompletionStream(options);
  return { stream, chunks: stream.push(text) };
}

function joined(chunks: Chunk[], { usage: used }: CompletionStream): object {
  const answer = new WholeAnswer();
  for (const chunk of chunks) answer.add(chunk);
  return answer.toJson(used);
}

describe('CompletionStream', () => {
  it.each([
    { reasoning_content: 'Hm' },
    { reasoning: 'Hm' },
    { reasoning_content: null, reasoning: 'Hm' },
    { reasoning_content: 'Hm', reasoning: 'Hm' },
  ])('unifies the field for thoughts, from %j', (delta) => {
    const { chunks, stream } = read(event({ choices: [{ delta }] }) + token('Rye', 2), vllm);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', reasoning_content: 'Hm' });
    expect(joined(chunks, stream)).toMatchObject({
      choices: [{ message: { content: 'Rye', reasoning_content: 'Hm' } }],
    });
  });

  it("sends only fields of OpenAI's format, wherever the bytes are split", () => {
    const wanted = read(whole).chunks;
    expect(wanted.slice(1, 2)).toEqual([
      { ...head, model: 'loaf', choices: [{ index: 0, delta: { content: 'Hel' }, finish_reason: null }] },
    ]);
    expect(JSON.stringify(wanted)).not.toMatch(/cache|timings|prompt_n|usage|fingerprint/);
    for (const size of [1, 3, 17]) {
      const stream = new CompletionStream(llamacpp);
      const chunks: Chunk[] = [];
      for (let at = 0; at < whole.length; at += size) chunks.push(...stream.push(whole.slice(at, at + size)));
      expect(chunks).toEqual(wanted);
      expect(stream.complete).toBe(true);
    }
  });

  it('reports the usage without cache hits', () => {
    const { stream } = read(whole);
    expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 2 });
  });

  it('reports the usage of a stream that breaks off, and does not count it as complete', () => {
    const stream = new CompletionStream(llamacpp);
    expect(stream.started).toBe(false);
    stream.push(token('a', 1) + token('b', 2) + token('c', 3).slice(0, 10));
    expect(stream.started).toBe(true);
    expect(stream.complete).toBe(false);
    expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 2 });
  });

  it('limits reported counts, and the length of an event', () => {
    const stream = new CompletionStream(llamacpp);
    stream.push(token('a', 1e21));
    expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 10_000_000 });
    const endless = 'x'.repeat(100_000);
    expect(() => {
      for (let pieces = 0; pieces < 20; pieces += 1) stream.push(endless);
    }).toThrow(AnswerFailed);
  });

  it('reads the prompt progress before the first token, and does not send it to the client', () => {
    const progress = { total: 900, cache: 0, processed: 512, time_ms: 9 };
    const { stream, chunks } = read(event({ choices: [{ index: 0, delta: {} }], prompt_progress: progress }));
    expect(chunks).toEqual([]);
    expect(stream.usage).toEqual({ promptTokens: 512, completionTokens: 0 });
  });

  it('sends the role once, even if the event with the role contained only prompt progress', () => {
    const progress = { total: 900, cache: 0, processed: 900, time_ms: 9 };
    const delta = { role: 'assistant', content: null };
    const { chunks } = read(
      event({ choices: [{ index: 0, delta }], prompt_progress: progress }) + token('Hel', 1) + token('lo', 2),
    );
    expect(chunks.map(({ choices: [choice] }) => choice?.delta)).toEqual([
      { role: 'assistant', content: 'Hel' },
      { content: 'lo' },
    ]);
  });

  it("reads vLLM's usage from every event and removes it", () => {
    const counted = { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } };
    const { stream, chunks } = read(event({ choices: [{ delta: { content: 'x' } }], usage: counted }), vllm);
    expect(chunks[0]?.usage).toBeUndefined();
    expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 1 });
  });

  it('does not count comments as events, and throws on an error', () => {
    const { stream } = read(': ping\n\n');
    expect(stream.events).toBe(0);
    expect(() => stream.push('data: {"error":{"code":500,"message":"no"}}\n\n')).toThrow(AnswerFailed);
  });
});

describe('a whole answer', () => {
  it('joins the stream', () => {
    const { stream, chunks } = read(whole);
    expect(joined(chunks, stream)).toEqual({
      id: 'c1',
      object: 'chat.completion',
      created: 7,
      model: 'loaf',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello' }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    });
  });

  it('has the log-probabilities of all tokens', () => {
    const logprob = (text: string) => ({ token: text, logprob: -1, bytes: [1], top_logprobs: [] });
    const text =
      token('Hel', 1, { logprobs: { content: [logprob('Hel')] } }) +
      token('lo', 2, { logprobs: { content: [logprob('lo')] } });
    const { stream, chunks } = read(text + last);
    expect(joined(chunks, stream)).toMatchObject({
      choices: [{ logprobs: { content: [logprob('Hel'), logprob('lo')] } }],
    });
  });

  it('has only the requested number of candidates', () => {
    const others = ['Hel', 'H', 'J'].map((text) => ({ token: text, logprob: -1 }));
    const content = [{ token: 'Hel', logprob: -1, top_logprobs: others }];
    for (const candidates of [0, 2]) {
      const { stream, chunks } = read(token('Hel', 1, { logprobs: { content } }) + last, {
        ...llamacpp,
        candidates,
      });
      const kept = [{ token: 'Hel', logprob: -1, top_logprobs: others.slice(0, candidates) }];
      expect(joined(chunks, stream)).toMatchObject({ choices: [{ logprobs: { content: kept } }] });
    }
  });

  it('has log-probabilities in the format of text completions', () => {
    const piece = (text: string, other: string) =>
      event({
        id: 'chatcmpl-1',
        object: 'text_completion',
        choices: [
          {
            index: 0,
            text,
            finish_reason: null,
            logprobs: {
              content: [
                {
                  token: text,
                  logprob: -0.5,
                  top_logprobs: [
                    { token: text, logprob: -0.5 },
                    { token: other, logprob: -2 },
                  ],
                },
              ],
            },
          },
        ],
      });
    const end = event({ choices: [{ index: 0, text: '', finish_reason: 'length' }] });
    const { stream, chunks } = read(piece('Hel', 'H') + piece('lo', 'p') + end);
    expect(joined(chunks, stream)).toMatchObject({
      id: 'cmpl-1',
      object: 'text_completion',
      choices: [
        {
          text: 'Hello',
          index: 0,
          finish_reason: 'length',
          logprobs: {
            tokens: ['Hel', 'lo'],
            token_logprobs: [-0.5, -0.5],
            top_logprobs: [
              { Hel: -0.5, H: -2 },
              { lo: -0.5, p: -2 },
            ],
            text_offset: [0, 3],
          },
        },
      ],
    });
  });
});
