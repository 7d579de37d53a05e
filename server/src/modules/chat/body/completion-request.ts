import { DEFAULT_ANSWER_TOKENS } from '@bakehouse/contract/limits';
import { invalidParam } from '../../../platform/errors.ts';
import type { TextEngine } from '../../serving/text-spec.ts';
import { answerGrammar, isBoundChoice } from '../grammar/answer-grammar.ts';
import {
  type AnswerFormat,
  buildGrammar,
  type GrammarRequest,
  SCHEMA_PARAM,
  type Thinks,
} from '../grammar/build-grammar.ts';
import { type ChatPictures, toServerPart } from '../pictures/chat-pictures.ts';
import { type CallableTools, toolsOf, toServerTool } from '../tools/callable-tools.ts';
import { checkTools, checkTurns } from '../tools/check-tools.ts';
import { contextExceeded, longestPrompt } from './limits.ts';

export type CompletionBody = {
  model: string;
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean | null } | null;
  /** The pictures to which messages refer. Set by this server. */
  pictures?: ChatPictures;
  [parameter: string]: unknown;
};

type Engine = TextEngine;
type Served = { engine: Engine; contextTokens: number };
type Parameters = Record<string, unknown>;

/** Maximum characters of a token. No known tokenizer has longer tokens. */
const TOKEN_LENGTH_MAX = 64;

/** OpenAI's default for text completions. Engines have other defaults: llama.cpp uses the whole context. */
const COMPLETION_TOKENS = 16;

/** Fields sent to the model server unchanged: OpenAI's names, and names that llama.cpp and vLLM share. */
const passedOn = new Set([
  ...['prompt', 'stop', 'seed', 'logit_bias', 'temperature', 'top_p'],
  ...['top_k', 'min_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'],
  'chat_template_kwargs',
]);

/** Fields that make a model server report the usage with every token. */
const runningUsage: Record<Engine, Parameters> = {
  llamacpp: { timings_per_token: true, stream_options: { include_usage: true } },
  vllm: { stream_options: { include_usage: true, continuous_usage_stats: true } },
};

/**
 * Returns the request for the model server, without the choice of an adapter. Always requests a stream,
 * because it reports the usage continuously. Throws AppError 'invalid_request' or 'context_length_exceeded'.
 */
export function toServerRequest(
  body: CompletionBody,
  { engine, contextTokens }: Served,
  grammarOf: (asked: GrammarRequest) => string = buildGrammar,
): object {
  checkLength(body, contextTokens);
  if (typeof body.top_logprobs === 'number' && body.logprobs !== true) {
    throw invalidParam('top_logprobs', "top_logprobs: set 'logprobs' to true as well");
  }
  const request: Parameters = {};
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined && passedOn.has(name)) request[name] = value;
  }
  const tools = checkTools(body);
  // A stream of llama.cpp has no log-probabilities for tool calls, and this server only requests streams.
  if (tools && engine === 'llamacpp' && body.logprobs === true)
    throw invalidParam(
      'logprobs',
      "logprobs: on a CPU there are none together with 'tools'. Leave out one of the two",
    );
  const most = maxTokens(body, contextTokens);
  return {
    ...request,
    ...(Array.isArray(body.messages) && ofMessages(body.messages, engine, body.pictures)),
    ...(most !== null && { max_tokens: most }),
    ...(tools && ofTools(tools, { engine, isBound: bindingOf(body, engine) !== null })),
    ...ofGrammar(body, tools, { engine, grammarOf }),
    ...ofEngine(body, engine),
    ...runningUsage[engine],
    stream: true,
  };
}

/**
 * Like `toServerRequest`, but builds the grammar in a worker, because a hostile schema takes seconds to
 * build.
 */
export async function toBoundRequest(body: CompletionBody, served: Served, userId: string): Promise<object> {
  const asked: GrammarRequest[] = [];
  const request = toServerRequest(body, served, (one) => {
    asked.push(one);
    return '';
  });
  const [bound] = asked;
  return bound ? { ...request, ...grammarField(served.engine, await answerGrammar(bound, userId)) } : request;
}

/**
 * Returns the maximum number of tokens of an answer. A chat without a maximum gets a default, so that its
 * hold does not cover the whole context. Null if the prompt may leave less room than the default: vLLM would
 * reject such a maximum, so the answer may use the rest of the context.
 */
export function maxTokens(body: CompletionBody, contextTokens: number): number | null {
  const { max_tokens: older, max_completion_tokens: newer } = body;
  const asked = body.messages ? (newer ?? older) : (older ?? newer);
  if (typeof asked === 'number') return asked;
  if (!body.messages) return COMPLETION_TOKENS;
  return longestPrompt(body) + DEFAULT_ANSWER_TOKENS <= contextTokens ? DEFAULT_ANSWER_TOKENS : null;
}

/** Rejects prompts that are certainly longer than the context, without tokenizing them. */
function checkLength(body: CompletionBody, contextTokens: number): void {
  if (promptText(body).length > TOKEN_LENGTH_MAX * contextTokens)
    throw contextExceeded(body, { most: contextTokens });
}

/** Returns the prompt's text in the order in which the model reads it. */
export function promptText(body: CompletionBody): string {
  const { messages, prompt, tools } = body;
  if (!messages) return JSON.stringify(prompt);
  return tools && body.tool_choice !== 'none'
    ? JSON.stringify(tools) + JSON.stringify(messages)
    : JSON.stringify(messages);
}

type Message = {
  role: string;
  content?: unknown;
  name?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[] | null;
  tool_call_id?: string | null;
};

/**
 * The model continues a trailing assistant message. llama.cpp does so by default, but rejects two in a row.
 */
function ofMessages(all: Message[], engine: Engine, pictures: ChatPictures = {}): Parameters {
  checkTurns(all);
  const end = all.findLastIndex(({ role, tool_calls: calls }) => role !== 'assistant' || calls?.length) + 1;
  const begun = all.slice(end);
  const messages = begun.length > 1 ? [...all.slice(0, end), joined(begun)] : all;
  return {
    messages: messages.map((message) => toServerMessage(message, pictures)),
    ...(begun.length > 0 &&
      engine === 'vllm' && { continue_final_message: true, add_generation_prompt: false }),
  };
}

function joined(messages: Message[]): Message {
  const texts = messages.map(({ content }) => toText(content));
  return { role: 'assistant', content: texts.filter(Boolean).join('\n') };
}

function toText(content: unknown): unknown {
  return Array.isArray(content) ? content.map(({ text }) => text).join('\n') : content;
}

/**
 * Removes fields of answers that clients send back (`refusal`, `annotations`), because models ignore them.
 */
function toServerMessage(
  { role, content, name, tool_calls: calls, tool_call_id: callId }: Message,
  pictures: ChatPictures,
): object {
  if (role === 'tool') return { role, content: toText(content), tool_call_id: callId };
  return {
    // 'developer' is OpenAI's newer name for 'system'. Chat templates do not know it.
    role: role === 'developer' ? 'system' : role,
    content: Array.isArray(content) ? toServerParts(content, pictures) : (content ?? ''),
    ...(typeof name === 'string' && { name }),
    ...(calls?.length && { tool_calls: calls.map(toServerCall) }),
  };
}

function toServerParts(parts: object[], pictures: ChatPictures): unknown {
  return parts.length === 0 ? '' : parts.map((part) => toServerPart(part, pictures));
}

function toServerCall({
  id,
  function: { name, arguments: said },
}: NonNullable<Message['tool_calls']>[number]) {
  return { id, type: 'function', function: { name, arguments: said.trim() || '{}' } };
}

/**
 * Without a grammar, the model writes calls in the form of its chat template, and the model server parses
 * them. With a grammar, the model writes only calls, and this server parses them (`required-calls.ts`).
 * Required calls have no `stop`, because a stop text could truncate a call.
 */
function ofTools(
  { tools, choice, isMany }: CallableTools,
  { engine, isBound }: { engine: Engine; isBound: boolean },
): Parameters {
  const told = tools.map((tool) => toServerTool(tool, { isRead: engine === 'llamacpp' && !isBound }));
  if (!isBound) return { tools: told, tool_choice: 'auto', parallel_tool_calls: isMany };
  return { tools: told, tool_choice: 'none', ...(choice === 'required' && { stop: [] }) };
}

/**
 * Returns how to parse an answer that is bound by a grammar: `required` if a call is required, `choice` if
 * calls are optional, `answer` if only the format of the text is bound. Null if there is no grammar.
 */
export function bindingOf(body: CompletionBody, engine: Engine): 'required' | 'choice' | 'answer' | null {
  const format = formatOf(body.response_format);
  const tools = toolsOf(body);
  if (tools?.choice === 'required') return 'required';
  if (tools && isBoundChoice(tools, { engine, format })) return 'choice';
  return format && !tools ? 'answer' : null;
}

function ofGrammar(
  body: CompletionBody,
  tools: CallableTools | null,
  { engine, grammarOf }: { engine: Engine; grammarOf: (asked: GrammarRequest) => string },
): Parameters {
  const binding = bindingOf(body, engine);
  if (!binding) return {};
  const format = binding === 'required' ? null : formatOf(body.response_format);
  // vLLM applies a grammar only after the thought, so the grammar must not contain a thought.
  const thinks = engine === 'vllm' ? 'never' : ((body.thinks as Thinks | undefined) ?? 'never');
  return grammarField(engine, grammarOf({ format, tools, thinks }));
}

function grammarField(engine: Engine, grammar: string): Parameters {
  return engine === 'vllm' ? { structured_outputs: { grammar } } : { grammar };
}

/**
 * Returns the requested number of candidates per token. It is `top_logprobs` in chats and `logprobs` in text
 * completions.
 */
export function requestedCandidates({ logprobs, top_logprobs: top }: CompletionBody): number {
  const asked = typeof logprobs === 'number' ? logprobs : top;
  return typeof asked === 'number' ? asked : 0;
}

/**
 * Requests at least one candidate: llama.cpp sends no log-probabilities for 0, and 20 candidates if the
 * number is absent.
 */
function logprobsOf(body: CompletionBody): Parameters {
  const shown = Math.max(requestedCandidates(body), 1);
  if (body.logprobs === true) return { top_logprobs: shown };
  return typeof body.logprobs === 'number' ? { logprobs: shown } : {};
}

/** Fields that the engines name differently, or that only one engine supports. */
function ofEngine(body: CompletionBody, engine: Engine): Parameters {
  const repetition = body.repetition_penalty ?? body.repeat_penalty;
  const named = {
    ...(repetition !== null && repetition !== undefined && { [repetitionName[engine]]: repetition }),
    ...(engine === 'llamacpp' && logprobsOf(body)),
    // Without it, llama.cpp does not report which stop text ended an answer.
    ...(engine === 'llamacpp' && body.tells_stop === true && { verbose: true }),
    // For some models, vLLM implements this field itself, without the chat template.
    ...(engine === 'vllm' &&
      body.reasoning_effort !== undefined && { reasoning_effort: body.reasoning_effort }),
  };
  const { typical_p: typical } = body;
  if (typical === null || typical === undefined) return named;
  if (engine === 'vllm')
    throw invalidParam('typical_p', 'typical_p: models on GPUs do not know it. Leave it out');
  return { ...named, typical_p: typical };
}

const repetitionName: Record<Engine, string> = { llamacpp: 'repeat_penalty', vllm: 'repetition_penalty' };

/** Returns the requested format; null for text. The engines' own grammar fields are not supported. */
function formatOf(format: unknown): AnswerFormat | null {
  if (typeof format !== 'object' || format === null || !('type' in format) || format.type === 'text')
    return null;
  if (format.type === 'json_object') {
    if ('schema' in format) {
      throw invalidParam('response_format.schema', "response_format: a schema goes with type 'json_schema'");
    }
    return { schema: null, strict: false };
  }
  const { schema, strict } = ('json_schema' in format ? (format.json_schema ?? {}) : {}) as Parameters;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw invalidParam(SCHEMA_PARAM, `${SCHEMA_PARAM} must be a JSON Schema: an object`);
  return { schema, strict: strict === true };
}
