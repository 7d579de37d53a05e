import { expect, test } from 'vitest';
import { toModelServerError } from './to-model-server-error.ts';

const chat = { messages: [{ role: 'user', content: 'Hi' }] };
const said = (error: object, body = chat) => toModelServerError(JSON.stringify({ error }), body);
const exceeded = { code: 'context_length_exceeded', status: 400, param: 'messages' };
const advice = 'Shorten the conversation or start a new one';

test("reports a conversation that is too long in OpenAI's words, with advice for the caller", () => {
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

test('reports a prompt that is too long', () => {
  const message = 'the request exceeds the available context size';
  expect(toModelServerError(JSON.stringify({ error: { message, n_ctx: 4096 } }), {})).toMatchObject({
    ...exceeded,
    param: 'prompt',
    publicMessage: "This model's maximum context length is 4096 tokens. Shorten the prompt",
  });
});

const parser = 'Unable to generate parser for this template. Automatic parser generation failed: ';
const place =
  '\n------------\nWhile executing CallExpression at line 1, column 96 in source:\n...{{ raise_\n    ^\n';

test("extracts the cause from llama.cpp's message, without its internals", () => {
  const roles = 'Conversation roles must alternate user/assistant/user/assistant/...';
  expect(said({ message: `${parser}${place}Error: Jinja Exception: ${roles}` })).toMatchObject({
    publicMessage: roles,
    param: null,
  });
  expect(
    said({ message: `${parser}JSON schema error at #/properties/a: unrecognized type x` }),
  ).toMatchObject({
    publicMessage: 'response_format.json_schema.schema: at #/properties/a: unrecognized type x',
    param: 'response_format.json_schema.schema',
  });
  for (const message of [`${parser}${place}Error: Unknown filter`, `Failed to parse messages: ${place}Error`])
    expect(said({ message })).toMatchObject({
      publicMessage: "The model's chat template cannot read this conversation",
    });
});

test('keeps the message of other rejections, and replaces unreadable answers by a general message', () => {
  const refused = { code: 'invalid_request', param: null };
  const message = 'top_k must not be negative';
  expect(said({ message })).toMatchObject({ ...refused, publicMessage: message });
  for (const answer of ['', '<html>', '{"error":"no"}']) {
    expect(toModelServerError(answer, chat)).toMatchObject({
      ...refused,
      publicMessage: 'The model server refused the request',
    });
  }
});
