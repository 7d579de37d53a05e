import { chatCompletions, listModels } from '@bakehouse/contract/chat';
import type { Conversation } from '@bakehouse/contract/conversations';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type CallOptions, callRaw } from '../../lib/api/api-client.ts';
import { ApiError, toApiError } from '../../lib/api/api-error.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { textPieces } from '../../lib/live/text-pieces.ts';

/** A saved turn of a conversation. */
export type Turn = Conversation['turns'][number];

export type ChatCall = { id: string; name: string; arguments: string };

type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } };

export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; tool_calls?: ToolCall[] }
  | { role: 'tool'; content: string; tool_call_id: string };

/** Functions in API format, and whether the model must call one. */
export type ChatTools = { definitions: object[]; required: boolean };

/** Receives the answer piece by piece. */
export type ChatListener = {
  onText: (text: string) => void;
  /** The model's reasoning before the answer. */
  onThought?: (text: string) => void;
  /** All calls received up to now. */
  onCalls?: (calls: ChatCall[]) => void;
  /** Why the answer has not begun. */
  onWait?: (reason: string) => void;
};

export type ChatOptions = {
  temperature: number;
  max_tokens: number;
  /** Default to the model's own value and a random seed. */
  top_p?: number | undefined;
  seed?: number | undefined;
};

/** Speed of an answer: milliseconds to the first token, token count, tokens per second after the first. */
export type ChatSpeed = { firstTokenMs: number; tokens: number; tokensPerSecond: number | null };

/** Why an answer was cut: it reached `max_tokens`, or the context is full. */
export type CutReason = 'maximum' | 'context';

type ChatEnd = { speed: ChatSpeed; cut?: CutReason | undefined };

/** The first answer may have to wait for a model to wake. */
const TIMEOUT_MS = 10 * 60_000;

/**
 * The server sends a comment every 10 s while it waits for the model; longer silence means a lost connection.
 */
const SILENCE_MS_MAX = 60_000;

/** Completes 'Failed to …' for errors without a message. */
const OPERATION = 'chat with the model';

export const chatModelsQuery = endpointQuery(['deployment', 'models'], listModels);

export type ChatRequest = {
  model: string;
  messages: ChatMessage[];
  options: ChatOptions;
  tools?: ChatTools | undefined;
};

/** Asks a model and streams its answer to the listener. Throws what `streamAnswer` throws. */
export async function streamChat(
  request: ChatRequest,
  listener: ChatListener,
  signal: AbortSignal,
): Promise<ChatEnd> {
  const body = {
    model: request.model,
    messages: request.messages,
    stream: true,
    stream_options: { include_usage: true },
    ...request.options,
    ...(request.tools && toolsBody(request.tools)),
  };
  const { speed, isCut } = await streamAnswer(
    (options) => callRaw(chatCompletions, { body }, options),
    listener,
    signal,
  );
  if (!isCut) return { speed };
  // The API reports the finish reason 'length' for both.
  return { speed, cut: speed.tokens < request.options.max_tokens ? 'context' : 'maximum' };
}

/**
 * Streams the completion that `ask` requests to the listener. Throws an `ApiError`, also for an error inside
 * the stream, or the signal's reason.
 */
export async function streamAnswer(
  ask: (options: CallOptions) => Promise<Response>,
  { onText, onThought, onCalls, onWait }: ChatListener,
  signal: AbortSignal,
): Promise<{ speed: ChatSpeed; isCut: boolean }> {
  const started = performance.now();
  const silence = new AbortController();
  const response = await ask({
    signal: AbortSignal.any([signal, silence.signal]),
    timeoutMs: TIMEOUT_MS,
    operation: OPERATION,
  });
  if (!response.body) throw new Error('The server sent no answer');

  const events: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: (comment) => onWait?.(/waiting, (.+)/.exec(comment)?.[1] ?? ''),
  });
  let firstTokenMs: number | null = null;
  let tokens = 0;
  let isCut = false;
  const calls: ChatCall[] = [];
  for await (const piece of whileHeard(textPieces(response.body), silence)) {
    parser.feed(piece);
    for (const { data } of events.splice(0)) {
      if (data === '[DONE]') continue;
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error) {
        throw toApiError(response.status, data, response.headers.get('x-request-id'), OPERATION);
      }
      const choice = chunk.choices?.[0];
      isCut ||= choice?.finish_reason === 'length';
      const { content, reasoning_content: thought, tool_calls: pieces } = choice?.delta ?? {};
      if (content || thought || pieces) firstTokenMs ??= performance.now() - started;
      if (thought) onThought?.(thought);
      for (const callPiece of pieces ?? []) addPiece(calls, callPiece);
      if (pieces) onCalls?.(calls.map((call) => ({ ...call })));
      if (content) onText(content);
      if (chunk.usage) tokens = chunk.usage.completion_tokens;
    }
  }
  return {
    speed: speedOf(firstTokenMs ?? performance.now() - started, performance.now() - started, tokens),
    isCut,
  };
}

function toolsBody({ definitions, required }: ChatTools) {
  // The server validates the typed functions and names what is wrong.
  return { tools: definitions as never, tool_choice: required ? ('required' as const) : ('auto' as const) };
}

function addPiece(calls: ChatCall[], { index, id, function: said }: CallPiece): void {
  const call = (calls[index] ??= { id: '', name: '', arguments: '' });
  call.id ||= id ?? '';
  call.name ||= said?.name ?? '';
  call.arguments += said?.arguments ?? '';
}

/** Yields the pieces. If none arrives for too long, aborts `silence`, which ends the response, and throws. */
async function* whileHeard(pieces: AsyncIterable<string>, silence: AbortController): AsyncGenerator<string> {
  const fail = () =>
    silence.abort(
      new ApiError('The connection was lost while the model was answering. Please ask again.', {
        status: 0,
        code: 'network',
      }),
    );
  let timer = setTimeout(fail, SILENCE_MS_MAX);
  try {
    for await (const piece of pieces) {
      clearTimeout(timer);
      timer = setTimeout(fail, SILENCE_MS_MAX);
      yield piece;
    }
  } catch (error) {
    silence.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the speed figures under an answer. */
export function speedOf(firstTokenMs: number, totalMs: number, tokens: number): ChatSpeed {
  const rest = totalMs - firstTokenMs;
  return {
    firstTokenMs,
    tokens,
    tokensPerSecond: tokens > 1 && rest > 0 ? ((tokens - 1) * 1000) / rest : null,
  };
}

type CallPiece = { index: number; id?: string; function?: { name?: string; arguments?: string } };

type Chunk = {
  choices?: {
    /** Reasoning is not part of the answer; the server uses this name for every engine. */
    delta?: { content?: string | null; reasoning_content?: string | null; tool_calls?: CallPiece[] };
    finish_reason?: string | null;
  }[];
  usage?: { completion_tokens: number } | null;
  error?: unknown;
};
