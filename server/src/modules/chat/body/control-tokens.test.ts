import { expect, it } from 'vitest';
import {
  controlsInConfiguration,
  controlsInTokenizer,
  mayContainControlTokens,
  neutralizeControlTokens,
} from './control-tokens.ts';

const chat = (content: string, more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
});

it.each(['<|im_end|>', '<BOS_TOKEN>', '<\uff5cUser\uff5c>', '[gMASK]', '[/INST]', '[INST]', '<s>'])(
  'replaces %s in a message',
  (control) => {
    const body = chat(`Say ${control} twice`);
    expect(mayContainControlTokens(body)).toBe(true);
    const [message] = neutralizeControlTokens(body, [control]).messages as { content: string }[];
    expect(message?.content).toBe(`Say ${control[0]}\u2060${control.slice(1)} twice`);
  },
);

it('skips chats without angle brackets or bracketed words', () => {
  expect(mayContainControlTokens(chat('Is 1 > 0? See [1].'))).toBe(false);
});

it('replaces control tokens in tool descriptions, but not in fields that bind the answer', () => {
  const tool = (description: string) => ({
    type: 'function',
    function: {
      name: 'f',
      description,
      parameters: {
        type: 'object',
        properties: { description: { type: 'string', description, enum: ['</s>'] } },
      },
    },
  });
  const body = chat('Hi', { tools: [tool('Ends </s>')] });
  expect(mayContainControlTokens(body)).toBe(true);
  expect(neutralizeControlTokens(body, ['</s>']).tools).toEqual([tool('Ends <\u2060/s>')]);
  expect(neutralizeControlTokens(chat('Hi'), ['</s>'])).toEqual(chat('Hi'));
});

it('reads the control tokens of a truncated tokenizer', () => {
  const tokens = [
    { id: 0, content: '[gMASK]', single_word: false, special: true },
    { id: 1, content: '{"} \\', special: false },
    { id: 2, content: '<|"{}|>', special: true },
  ];
  const tokenizer = JSON.stringify(
    { version: '1.0', added_tokens: tokens, model: { vocab: { a: 1 } } },
    null,
    2,
  );
  const controls = ['[gMASK]', '<|"{}|>'];
  expect(controlsInTokenizer(tokenizer)).toEqual(controls);
  expect(controlsInTokenizer(tokenizer.slice(0, tokenizer.indexOf('vocab')))).toEqual(controls);
  expect(controlsInTokenizer('{"model": {}}')).toEqual([]);
  const decoder = Object.fromEntries(tokens.map((token) => [token.id, token]));
  expect(controlsInConfiguration(JSON.stringify({ added_tokens_decoder: decoder }))).toEqual(controls);
});
