import { describe, expect, it } from 'vitest';
import { CompletionStream, readUsage, withModelName } from './completion-stream.ts';

const llamacpp = { engine: 'llamacpp', modelName: 'loaf', keepUsage: false } as const;
const vllm = { ...llamacpp, engine: 'vllm' } as const;
const timings = (prompt_n: number, predicted_n: number) => ({
  cache_n: 4,
  prompt_n,
  prompt_ms: 1.5,
  predicted_n,
});
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const token = (content: string, count: number) =>
  event({ choices: [{ delta: { content } }], model: 'base', timings: timings(3, count) });
const usage = event({
  choices: [],
  model: 'base',
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
});
const whole = `${event({ choices: [{ delta: { role: 'assistant', content: null } }], model: 'base' })}${token('Hel', 1)}${token('lo', 2)}${usage}data: [DONE]\n\n`;
const passed = (text: string) =>
  text.replaceAll('"model":"base"', '"model":"loaf"').replaceAll(/,"timings":\{[^}]*\}/g, '');

describe('CompletionStream', () => {
  it('passes every event, without what only the bill needs, however the bytes are cut', () => {
    for (const size of [1, 3, 17, whole.length]) {
      const stream = new CompletionStream({ ...llamacpp, keepUsage: true });
      let out = '';
      for (let at = 0; at < whole.length; at += size) out += stream.push(whole.slice(at, at + size));
      expect(out + stream.finish()).toBe(passed(whole));
      expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 2 });
    }
  });

  it('keeps the usage event to itself when the caller did not ask for it', () => {
    const stream = new CompletionStream(llamacpp);
    expect(stream.push(whole) + stream.finish()).toBe(passed(whole.replace(usage, '')));
    expect(stream.usage.promptTokens).toBe(7);
  });

  it('adds the end mark that some servers leave out', () => {
    const stream = new CompletionStream(llamacpp);
    expect(stream.push(token('Hi', 1)) + stream.finish()).toBe(`${passed(token('Hi', 1))}data: [DONE]\n\n`);
  });

  it('knows prompt and answer of a stream that breaks off', () => {
    const stream = new CompletionStream(llamacpp);
    expect(stream.started).toBe(false);
    stream.push(token('a', 1) + token('b', 2) + token('c', 3).slice(0, 10));
    expect(stream.started).toBe(true);
    expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 2 });
  });

  it("reads vLLM's usage of every event, and takes it out of all but the last", () => {
    const stream = new CompletionStream({ ...vllm, keepUsage: true });
    const chunk = { choices: [{ delta: { content: 'x' } }], model: 'base' };
    const counted = { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4 } };
    expect(stream.push(event({ ...chunk, usage: counted }))).toBe(passed(event(chunk)));
    expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 1 });
    expect(stream.push(usage)).toBe(passed(usage));
  });

  it('does not mistake a text that speaks of usage for the usage', () => {
    const stream = new CompletionStream(vllm);
    const speaking = event({
      choices: [{ delta: { content: '"usage":{"prompt_tokens":9},"timings":{"predicted_n":9}' } }],
    });
    expect(stream.push(speaking)).toBe(speaking);
    expect(stream.usage).toEqual({ promptTokens: 0, completionTokens: 0 });
  });
});

describe('readUsage', () => {
  it('is null without usage and ignores what is not a count', () => {
    expect(readUsage({ choices: [] })).toBeNull();
    expect(readUsage({ usage: { prompt_tokens: -1, completion_tokens: 'x' } })).toEqual({
      promptTokens: 0,
      completionTokens: 0,
    });
  });
});

it('answers under the name that was asked for, whatever the text says', () => {
  const chunk = JSON.stringify({ choices: [{ delta: { content: '"model":"x"' } }], model: 'base' });
  const answered: unknown = JSON.parse(withModelName(chunk, 'a "loaf"'));
  expect(answered).toEqual({ choices: [{ delta: { content: '"model":"x"' } }], model: 'a "loaf"' });
});
