import { expect, test } from 'vitest';
import { toRefusal } from './to-refusal.ts';

const chat = { messages: [{ role: 'user', content: 'Hi' }] };
const said = (error: object, body = chat) => toRefusal(JSON.stringify({ error }), body);
const exceeded = { code: 'context_length_exceeded', status: 400, param: 'messages' };
const advice = 'Shorten the conversation or start a new one';

test('a conversation that is too long is told as OpenAI tells it, with advice for who asks', () => {
  const message = 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it';
  expect(said({ message, n_prompt_tokens: 9000, n_ctx: 8192 })).toMatchObject({
    ...exceeded,
    publicMessage: `This model's maximum context length is 8192 tokens, but the conversation has 9000. ${advice}`,
  });
  const ofVllm = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens";
  expect(said({ message: ofVllm, type: 'BadRequestError', code: 400 })).toMatchObject({
    ...exceeded,
    publicMessage: `This model's maximum context length is 4096 tokens. ${advice}`,
  });
  expect(said({ message: 'the request exceeds the available context size' })).toMatchObject({
    ...exceeded,
    publicMessage: `The conversation is longer than this model's maximum context length. ${advice}`,
  });
});

test('so is a prompt', () => {
  const message = 'the request exceeds the available context size';
  expect(toRefusal(JSON.stringify({ error: { message, n_ctx: 4096 } }), {})).toMatchObject({
    ...exceeded,
    param: 'prompt',
    publicMessage: "This model's maximum context length is 4096 tokens. Shorten the prompt",
  });
});

test('another refusal is passed on, and what cannot be read is one sentence', () => {
  const refused = { code: 'invalid_request', param: null };
  const message = 'top_k must not be negative';
  expect(said({ message })).toMatchObject({ ...refused, publicMessage: message });
  for (const answer of ['', '<html>', '{"error":"no"}']) {
    expect(toRefusal(answer, chat)).toMatchObject({
      ...refused,
      publicMessage: 'The model server refused the request',
    });
  }
});
