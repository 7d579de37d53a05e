import { describe, expect, it } from 'vitest';
import { CompletionStream, readUsage, withModelName } from './completion-stream.ts';

const token = (text: string) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`;
const usage = `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}\n\n`;
const whole = `data: {"choices":[{"delta":{"role":"assistant","content":null}}]}\n\n${token('Hel')}${token('lo')}${usage}data: [DONE]\n\n`;

describe('CompletionStream', () => {
  it('passes every event as it is, however the bytes are cut', () => {
    for (const size of [1, 3, 17, whole.length]) {
      const stream = new CompletionStream('loaf', true);
      let out = '';
      for (let at = 0; at < whole.length; at += size) out += stream.push(whole.slice(at, at + size));
      expect(out + stream.finish()).toBe(whole);
      expect(stream.usage).toEqual({ promptTokens: 7, completionTokens: 2 });
    }
  });

  it('keeps the usage event to itself when the caller did not ask for it', () => {
    const stream = new CompletionStream('loaf', false);
    expect(stream.push(whole) + stream.finish()).toBe(whole.replace(usage, ''));
    expect(stream.usage.promptTokens).toBe(7);
  });

  it('adds the end mark that some servers leave out', () => {
    const stream = new CompletionStream('loaf', false);
    expect(stream.push(token('Hi')) + stream.finish()).toBe(`${token('Hi')}data: [DONE]\n\n`);
  });

  it('counts the tokens that came when the stream breaks off', () => {
    const stream = new CompletionStream('loaf', false);
    stream.push(token('a') + token('b') + token('c').slice(0, 10));
    expect(stream.started).toBe(true);
    expect(stream.usage).toEqual({ promptTokens: 0, completionTokens: 2 });
  });

  it('does not mistake a text that speaks of usage for the usage', () => {
    const stream = new CompletionStream('loaf', false);
    const event = token('"usage":{"prompt_tokens":9}');
    expect(stream.push(event)).toBe(event);
    expect(stream.usage).toEqual({ promptTokens: 0, completionTokens: 1 });
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
  const event = JSON.stringify({ choices: [{ delta: { content: '"model":"x"' } }], model: 'base' });
  const answered: unknown = JSON.parse(withModelName(event, 'a "loaf"'));
  expect(answered).toEqual({ choices: [{ delta: { content: '"model":"x"' } }], model: 'a "loaf"' });
});
