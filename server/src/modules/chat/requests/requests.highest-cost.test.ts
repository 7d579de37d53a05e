import { describe, expect, test, vi } from 'vitest';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { highestCostMicro, recordLongPrompt, usageBounds } from './requests.ts';

const CONTEXT_TOKENS = 4096;
const upstreamOf = (contextTokens: number) => ({ model_name: 'm', context_tokens: contextTokens });

const chat = (more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more });
const text = (more: object = {}) => ({ model: 'm', prompt: 'Bread is', ...more });
const completionOf = (
  body: ReturnType<typeof chat> | ReturnType<typeof text>,
  contextTokens = CONTEXT_TOKENS,
) => usageBounds(body, upstreamOf(contextTokens)).completionTokens;

describe('the maximum of an answer', () => {
  test.each([
    ['a chat without a maximum', chat(), CONTEXT_TOKENS],
    ['a chat whose maximum is null', chat({ max_tokens: null }), CONTEXT_TOKENS],
    ['a chat with a maximum', chat({ max_tokens: 100 }), 100],
    ['a chat with the newer name', chat({ max_completion_tokens: 50 }), 50],
    ['a chat with both names', chat({ max_tokens: 100, max_completion_tokens: 200 }), 200],
    ['a chat with a maximum beyond the context', chat({ max_tokens: 100_000 }), CONTEXT_TOKENS],
    ['a plain text without a maximum', text(), 16],
    ['a plain text with a maximum', text({ max_tokens: 300 }), 300],
    ['a plain text with both names', text({ max_tokens: 300, max_completion_tokens: 20 }), 300],
  ])('is what %s requests', (_, body, tokens) => {
    expect(completionOf(body)).toBe(tokens);
  });

  test.each([
    ['4,096 tokens in a long context', chat(), 100_000, 4096],
    [
      'the whole context with a long prompt',
      chat({ messages: [{ role: 'user', content: 'a'.repeat(99_000) }] }),
      100_000,
      100_000,
    ],
    ['the requested maximum', chat({ max_tokens: 50_000 }), 100_000, 50_000],
  ])('%s', (_, body, contextTokens, tokens) => {
    expect(completionOf(body, contextTokens)).toBe(tokens);
  });
});

describe('the maximum of a prompt', () => {
  const promptOf = (body: Parameters<typeof usageBounds>[0], upstream = upstreamOf(CONTEXT_TOKENS)) =>
    usageBounds(body, upstream).promptTokens;

  test("is one token per byte, plus the template's text in a chat", () => {
    expect(promptOf(text({ prompt: '' }))).toBeLessThan(20);
    expect(promptOf(text({ prompt: 'a'.repeat(1000) })) - promptOf(text({ prompt: '' }))).toBe(1000);
    expect(promptOf(text({ prompt: '麵'.repeat(1000) })) - promptOf(text({ prompt: '' }))).toBe(3000);
    expect(promptOf(text({ prompt: Array.from({ length: 100 }, () => 7) }))).toBeGreaterThanOrEqual(100);
    expect(promptOf(chat())).toBeGreaterThan(512);
    expect(promptOf(chat({ messages: [{ role: 'user', content: 'a'.repeat(9000) }] }))).toBe(CONTEXT_TOKENS);
    const format = { type: 'json_schema', json_schema: { schema: { title: 'a'.repeat(200) } } };
    expect(promptOf(chat({ response_format: format })) - promptOf(chat())).toBeGreaterThan(200);
    // Templates write functions with additional spaces and line breaks.
    const tools = [{ type: 'function', function: { name: 'add', description: 'a'.repeat(200) } }];
    expect(promptOf(chat({ tools })) - promptOf(chat())).toBeGreaterThan(400);
    expect(promptOf(chat({ tools, tool_choice: 'none' }))).toBe(promptOf(chat()));
  });

  test("is the whole context after a model's template was seen to add more tokens than expected", () => {
    const log = { info: vi.fn<(...said: unknown[]) => void>() };
    const [plain, long] = [upstreamOf(CONTEXT_TOKENS), { ...upstreamOf(CONTEXT_TOKENS), model_name: 'long' }];
    const bounds = usageBounds(chat(), plain);
    recordLongPrompt(log, plain, bounds, { ...bounds, completionTokens: 4000 });
    expect(log.info).not.toHaveBeenCalled();
    // Two concurrent requests.
    for (let n = 0; n < 2; n += 1) {
      recordLongPrompt(log, long, bounds, { ...bounds, promptTokens: bounds.promptTokens + 1 });
    }
    expect(promptOf(chat(), plain)).toBe(bounds.promptTokens);
    expect(promptOf(chat(), long)).toBe(CONTEXT_TOKENS);
    const said = { model: 'long', reserved: bounds.promptTokens, used: bounds.promptTokens + 1 };
    expect(log.info.mock.calls).toEqual([[said, expect.any(String)]]);
  });
});

describe('the highest price', () => {
  /** Prices per million tokens: one token costs `prompt` or `completion` micro-BGL. */
  const priced = (prompt: number, completion: number) => ({
    prompt: { ...defaultPrice('prompt_tokens:CPU'), unitPriceMicro: BigInt(prompt) * 1_000_000n },
    completion: { ...defaultPrice('completion_tokens:CPU'), unitPriceMicro: BigInt(completion) * 1_000_000n },
  });
  const bound = (promptTokens: number, completionTokens: number) => ({
    contextTokens: CONTEXT_TOKENS,
    promptTokens,
    completionTokens,
  });

  test("is the sum of the prompt's and the answer's maximum if both fit into the context", () => {
    expect(highestCostMicro(priced(2, 3), bound(600, 100))).toBe(2n * 600n + 3n * 100n);
  });

  test('otherwise has the maximum of the more expensive tokens; the others get the rest of the context', () => {
    expect(highestCostMicro(priced(2, 3), bound(4000, 1000))).toBe(2n * 3096n + 3n * 1000n);
    expect(highestCostMicro(priced(3, 2), bound(4000, 1000))).toBe(3n * 4000n + 2n * 96n);
    expect(highestCostMicro(priced(2, 3), bound(600, CONTEXT_TOKENS))).toBe(3n * BigInt(CONTEXT_TOKENS));
    expect(highestCostMicro(priced(3, 2), bound(CONTEXT_TOKENS, 100))).toBe(3n * BigInt(CONTEXT_TOKENS));
  });
});
