import { expect, test } from 'vitest';
import { refusalSentence } from './refusal-sentence.ts';

const said = (error: object) => refusalSentence(JSON.stringify({ error }), 'crumb');

test('a conversation that is too long is told in words for who asks', () => {
  const message = 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it';
  expect(said({ message, n_prompt_tokens: 9000, n_ctx: 8192 })).toBe(
    'The conversation has 9000 tokens, and crumb reads at most 8192. Shorten it, or begin a new one',
  );
  expect(said({ message: 'the request exceeds the available context size, try increasing it' })).toBe(
    'The conversation is longer than crumb can read. Shorten it, or begin a new one',
  );
});

test('another refusal is passed on, and what cannot be read is one sentence', () => {
  expect(said({ message: 'top_k must not be negative' })).toBe('top_k must not be negative');
  for (const answer of ['', '<html>', '{"error":"no"}'])
    expect(refusalSentence(answer, 'crumb')).toBe('The model server refused the request');
});
