import { DEFAULT_ANSWER_TOKENS } from '@bakehouse/contract/limits';
import { refused } from '../../../platform/errors.ts';
import type { TextEngine } from '../../serving/text-spec.ts';
import { answerGrammar, isBoundChoice } from '../grammar/answer-grammar.ts';
import {
  type AnswerFormat,
  type AskedGrammar,
  buildGrammar,
  SCHEMA_PARAM,
  type Thinks,
} from '../grammar/build-grammar.ts';
import { type AskedTools, toolsOf, toServerTool } from '../tools/asked-tools.ts';
import { checkTools } from '../tools/check-tools.ts';
import { checkTurns } from '../tools/check-turns.ts';
import { contextExceeded } from './context-exceeded.ts';
import { longestPrompt } from './longest-prompt.ts';

export type CompletionBody = {
  model: string;
  stream?: boolean | null;
  stream_options?: { include_usage?: boolean | null } | null;
  [parameter: string]: unknown;
};

type Engine = TextEngine;
type Served = { engine: Engine; contextTokens: number };
type Parameters = Record<string, unknown>;

/** No tokenizer makes one token of more characters. */
const TOKEN_LENGTH_MAX = 64;

/** OpenAI's own, for a plain text; engines have others, llama.cpp the whole context. */
const COMPLETION_TOKENS = 16;

/** What goes on to the model server as it is: OpenAI's names, and those that llama.cpp and vLLM share. */
const passedOn = new Set([
  ...['prompt', 'stop', 'seed', 'logit_bias', 'temperature', 'top_p'],
  ...['top_k', 'min_p', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'],
  'chat_template_kwargs',
]);

/** What has to be asked of a model server so that every token tells the usage so far. */
const runningUsage: Record<Engine, Parameters> = {
  llamacpp: { timings_per_token: true, stream_options: { include_usage: true } },
  vllm: { stream_options: { include_usage: true, continuous_usage_stats: true } },
};

/**
 * The request as the model server gets it, but for what chooses its adapter; always as a stream, so that what was computed is known
 * at every moment. Throws AppError 'invalid_request' or 'context_length_exceeded'.
 */
export function toServerRequest(
  body: CompletionBody,
  { engine, contextTokens }: Served,
  grammarOf: (asked: AskedGrammar) => string = buildGrammar,
): object {
  checkLength(body, contextTokens);
  if (typeof body.top_logprobs === 'number' && body.logprobs !== true) {
    throw refused('top_logprobs', "top_logprobs: set 'logprobs' to true as well");
  }
  const request: Parameters = {};
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined && passedOn.has(name)) request[name] = value;
  }
  const tools = checkTools(body);
  // llama.cpp tells none in a stream, and an answer in one piece is put together here.
  if (tools && engine === 'llamacpp' && body.logprobs === true)
    throw refused(
      'logprobs',
      "logprobs: on a CPU there are none together with 'tools'. Leave out one of the two",
    );
  const most = maxTokens(body, contextTokens);
  return {
    ...request,
    ...(Array.isArray(body.messages) && ofMessages(body.messages, engine)),
    ...(most !== null && { max_tokens: most }),
    ...(tools && ofTools(tools, { engine, isBound: bindingOf(body, engine) !== null })),
    ...ofGrammar(body, tools, { engine, grammarOf }),
    ...ofEngine(body, engine),
    ...runningUsage[engine],
    stream: true,
  };
}

/** The same with its grammar built in a worker: a hostile schema does not block the server. */
export async function toBoundRequest(body: CompletionBody, served: Served, userId: string): Promise<object> {
  const asked: AskedGrammar[] = [];
  const request = toServerRequest(body, served, (one) => {
    asked.push(one);
    return '';
  });
  const [bound] = asked;
  return bound ? { ...request, ...grammarField(served.engine, await answerGrammar(bound, userId)) } : request;
}

/**
 * How many tokens an answer may have, under the one name that both engines know. A chat that names no maximum has one all the same:
 * else the whole of a long context would be held of its caller's credits. Null: what its prompt leaves of the context, where that
 * may be less than this maximum, which vLLM would refuse.
 */
export function maxTokens(body: CompletionBody, contextTokens: number): number | null {
  const { max_tokens: older, max_completion_tokens: newer } = body;
  const asked = body.messages ? (newer ?? older) : (older ?? newer);
  if (typeof asked === 'number') return asked;
  if (!body.messages) return COMPLETION_TOKENS;
  return longestPrompt(body) + DEFAULT_ANSWER_TOKENS <= contextTokens ? DEFAULT_ANSWER_TOKENS : null;
}

/** What is longer than any context need not be read to be refused. */
function checkLength(body: CompletionBody, contextTokens: number): void {
  if (promptText(body).length > TOKEN_LENGTH_MAX * contextTokens)
    throw contextExceeded(body, { most: contextTokens });
}

/** What the model is to read, in the order in which it does. */
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

/** An answer that stands last is gone on from, as llama.cpp does by itself, which refuses two of them. */
function ofMessages(all: Message[], engine: Engine): Parameters {
  checkTurns(all);
  const end = all.findLastIndex(({ role, tool_calls: calls }) => role !== 'assistant' || calls?.length) + 1;
  const begun = all.slice(end);
  const messages = begun.length > 1 ? [...all.slice(0, end), joined(begun)] : all;
  return {
    messages: messages.map(toServerMessage),
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

/** Fields of an answer that a client sends back (`refusal`, `annotations`) mean nothing to a model. */
function toServerMessage({ role, content, name, tool_calls: calls, tool_call_id: callId }: Message): object {
  if (role === 'tool') return { role, content: toText(content), tool_call_id: callId };
  return {
    // OpenAI's newer word for it, which the templates of models do not know.
    role: role === 'developer' ? 'system' : role,
    content: Array.isArray(content) && content.length === 0 ? '' : (content ?? ''),
    ...(typeof name === 'string' && { name }),
    ...(calls?.length && { tool_calls: calls.map(toServerCall) }),
  };
}

function toServerCall({
  id,
  function: { name, arguments: said },
}: NonNullable<Message['tool_calls']>[number]) {
  return { id, type: 'function', function: { name, arguments: said.trim() || '{}' } };
}

/**
 * A model that is free to call writes calls in the form that its chat template asks for, which the server reads. One that
 * is bound by a grammar writes nothing else, and the gateway reads it (`required-calls.ts`); what would cut a call that is
 * required short is left out.
 */
function ofTools(
  { tools, choice, isMany }: AskedTools,
  { engine, isBound }: { engine: Engine; isBound: boolean },
): Parameters {
  const told = tools.map((tool) => toServerTool(tool, { isRead: engine === 'llamacpp' && !isBound }));
  if (!isBound) return { tools: told, tool_choice: 'auto', parallel_tool_calls: isMany };
  return { tools: told, tool_choice: 'none', ...(choice === 'required' && { stop: [] }) };
}

/**
 * How an answer is read that a grammar binds: `required` where it is a call, `choice` where it may be one, `answer` where
 * it has a form alone. Null: nothing binds it.
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
  tools: AskedTools | null,
  { engine, grammarOf }: { engine: Engine; grammarOf: (asked: AskedGrammar) => string },
): Parameters {
  const binding = bindingOf(body, engine);
  if (!binding) return {};
  const format = binding === 'required' ? null : formatOf(body.response_format);
  // vLLM binds what follows a thought by itself.
  const thinks = engine === 'vllm' ? 'never' : ((body.thinks as Thinks | undefined) ?? 'never');
  return grammarField(engine, grammarOf({ format, tools, thinks }));
}

function grammarField(engine: Engine, grammar: string): Parameters {
  return engine === 'vllm' ? { structured_outputs: { grammar } } : { grammar };
}

/** How many candidates are to be shown for each token: a chat and a plain text say so in different ways. */
export function askedCandidates({ logprobs, top_logprobs: top }: CompletionBody): number {
  const asked = typeof logprobs === 'number' ? logprobs : top;
  return typeof asked === 'number' ? asked : 0;
}

/** llama.cpp shows no log-probabilities at all where none but the token itself is asked for, and 20 where a chat names no number. */
function logprobsOf(body: CompletionBody): Parameters {
  const shown = Math.max(askedCandidates(body), 1);
  if (body.logprobs === true) return { top_logprobs: shown };
  return typeof body.logprobs === 'number' ? { logprobs: shown } : {};
}

/** What the two engines call differently, or only one of them knows. */
function ofEngine(body: CompletionBody, engine: Engine): Parameters {
  const repetition = body.repetition_penalty ?? body.repeat_penalty;
  const named = {
    ...(repetition !== null && repetition !== undefined && { [repetitionName[engine]]: repetition }),
    ...(engine === 'llamacpp' && logprobsOf(body)),
    // By itself it does not say which of the texts in `stop` has ended an answer.
    ...(engine === 'llamacpp' && body.tells_stop === true && { verbose: true }),
    // Models whose form of it vLLM knows without their template.
    ...(engine === 'vllm' &&
      body.reasoning_effort !== undefined && { reasoning_effort: body.reasoning_effort }),
  };
  const { typical_p: typical } = body;
  if (typical === null || typical === undefined) return named;
  if (engine === 'vllm') throw refused('typical_p', 'typical_p: models on GPUs do not know it. Leave it out');
  return { ...named, typical_p: typical };
}

const repetitionName: Record<Engine, string> = { llamacpp: 'repeat_penalty', vllm: 'repetition_penalty' };

/** The form that is asked for; null: text. Only what OpenAI's format has: engines take grammars of their own kinds beside it. */
function formatOf(format: unknown): AnswerFormat | null {
  if (typeof format !== 'object' || format === null || !('type' in format) || format.type === 'text')
    return null;
  if (format.type === 'json_object') {
    if ('schema' in format) {
      throw refused('response_format.schema', "response_format: a schema goes with type 'json_schema'");
    }
    return { schema: null, strict: false };
  }
  const { schema, strict } = ('json_schema' in format ? (format.json_schema ?? {}) : {}) as Parameters;
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw refused(SCHEMA_PARAM, `${SCHEMA_PARAM} must be a JSON Schema: an object`);
  return { schema, strict: strict === true };
}
