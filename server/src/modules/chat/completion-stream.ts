import { randomUUID } from 'node:crypto';
import type { TextEngine } from '../serving/text-spec.ts';
import { type CallPiece, MarkedCalls, RequiredCalls } from './tools/required-calls.ts';

/** The usage of one answer, read from the model server's stream. */
export type Usage = { promptTokens: number; completionTokens: number };

/** One chunk of an answer as this server sends it. */
export type Chunk = {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: Choice[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
};

export type CallDelta = {
  index: number;
  id?: string;
  type?: 'function';
  function: { name?: string; arguments: string };
};
type Delta = {
  role?: string;
  content?: string | null;
  reasoning_content?: string;
  tool_calls?: CallDelta[];
};
export type TokenLogprob = { token: string; logprob: number; top_logprobs?: TokenLogprob[] };
export type Logprobs = { content: TokenLogprob[] };

export type Choice = {
  index: number;
  /** Set in chats. */
  delta?: Delta;
  /** Set in text completions. */
  text?: string;
  logprobs?: Logprobs | LegacyLogprobs | null;
  finish_reason: string | null;
};

/** Log-probabilities in the format of text completions. */
export type LegacyLogprobs = {
  tokens: string[];
  token_logprobs: number[];
  top_logprobs: Record<string, number>[];
  text_offset: number[];
};

type Options = {
  engine: TextEngine;
  /** The model's name as the caller requested it. */
  modelName: string;
  /** Number of candidates per token that the caller requested. A model server may send more. */
  candidates: number;
  /**
   * How to parse an answer that is bound by a grammar. Null or absent if the model server parses the answer.
   */
  binding?: 'required' | 'choice' | 'answer' | null;
  /**
   * `index` numbers the answers of a request. `id` is shared by all of them; null until the first answer has
   * one.
   */
  index?: number;
  id?: string | null;
};

type Fields = Record<string, unknown>;

/** Events are far smaller: the scores of 20 candidates per token take a few kilobytes. */
const EVENT_CHARS_MAX = 1024 * 1024;
/** No model reads or writes this many tokens. A model server that reports more may be compromised. */
const TOKENS_MAX = 10_000_000;

/** The model server failed in the middle of an answer, or sent an invalid one. */
export class AnswerFailed extends Error {}

/**
 * Parses the event stream of a model server. Returns only OpenAI's fields, because others, such as timings
 * and cache hits, would reveal what other users do. Tracks the usage after every event, so that an answer
 * that breaks off can be charged for its computed tokens.
 */
export class CompletionStream {
  private readonly options: Options;
  private buffered = '';
  private ended = false;
  private saidRole = false;
  private heard = 0;
  private stoppedBy: string | null = null;
  private offset = 0;
  private readonly required = new RequiredCalls();
  private readonly marked = new MarkedCalls();
  private lastUsage: Usage = { promptTokens: 0, completionTokens: 0 };
  private head: Pick<Chunk, 'id' | 'object' | 'created'> = { id: '', object: '', created: 0 };

  constructor(options: Options) {
    this.options = options;
  }

  /** Adds received text; returns the completed chunks. Throws AnswerFailed. */
  push(text: string): Chunk[] {
    this.buffered += text;
    const chunks: Chunk[] = [];
    for (;;) {
      const end = this.buffered.indexOf('\n\n');
      if (end < 0 && this.buffered.length > EVENT_CHARS_MAX)
        throw new AnswerFailed('event exceeds the maximum size');
      if (end < 0) return chunks;
      const chunk = this.parseEvent(this.buffered.slice(0, end));
      this.buffered = this.buffered.slice(end + 2);
      if (chunk) chunks.push(chunk);
    }
  }

  /** The number of received events. */
  get events(): number {
    return this.heard;
  }

  /** Whether a token was received. */
  get started(): boolean {
    return this.lastUsage.completionTokens > 0;
  }

  /** Whether the model server ended the answer regularly. */
  get complete(): boolean {
    return this.ended;
  }

  get usage(): Usage {
    return this.lastUsage;
  }

  /** The id of the chunks; null before the first chunk. */
  get id(): string | null {
    return this.head.id || null;
  }

  /**
   * The stop text that ended the answer; null if another reason ended it, or if the caller did not ask for
   * it.
   */
  get stopSequence(): string | null {
    return this.stoppedBy;
  }

  private parseEvent(event: string): Chunk | null {
    if (!event.startsWith('data: ')) return null;
    this.heard += 1;
    if (event.startsWith('data: [DONE]')) {
      this.ended = true;
      return null;
    }
    const data = fieldsOf(JSON.parse(event.slice('data: '.length)));
    if (!data) return null;
    if ('error' in data) throw new AnswerFailed(JSON.stringify(data.error));
    this.lastUsage = readUsage(data, this.options.engine) ?? this.lastUsage;
    const choices = Array.isArray(data.choices)
      ? data.choices.map(fieldsOf).filter((one) => one !== null)
      : [];
    // llama.cpp reports prompt progress in separate events.
    if (choices.length === 0 || 'prompt_progress' in data) return null;
    const object = String(data.object);
    const id = this.options.id ?? toId(String(data.id), object);
    this.head = { id, object, created: Number(data.created) };
    this.stoppedBy = stopOf(data, choices[0]) ?? this.stoppedBy;
    return {
      ...this.head,
      model: this.options.modelName,
      choices: choices.map((choice) => this.toChoice(choice)),
    };
  }

  private toChoice(choice: Fields): Choice {
    const finishReason = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
    if (finishReason) this.ended = true;
    const delta = fieldsOf(choice.delta);
    const upstream = fieldsOf(choice.logprobs);
    if (delta) {
      const logprobs = upstream && { logprobs: toLogprobs(upstream, this.options.candidates) };
      // The model server may have sent the role in a progress event, which was dropped.
      const role = this.saidRole ? {} : { role: 'assistant' };
      this.saidRole = true;
      const said = this.read(toDelta(delta), finishReason !== null);
      return {
        index: this.options.index ?? 0,
        delta: { ...role, ...said },
        ...logprobs,
        finish_reason: this.endedBy(finishReason),
      };
    }
    const text = typeof choice.text === 'string' ? choice.text : '';
    const logprobs = upstream && this.toLegacy(upstream);
    this.offset += text.length;
    return { index: this.options.index ?? 0, text, logprobs, finish_reason: finishReason };
  }

  private read(delta: Delta, isEnd: boolean): Delta {
    const { binding } = this.options;
    if (binding !== 'required' && binding !== 'choice') return delta;
    const { content: text, ...rest } = delta;
    const read =
      binding === 'required'
        ? { content: '', calls: this.required.push(text ?? '') }
        : this.marked.push(text ?? '');
    const content = read.content + (isEnd ? this.marked.end() : '');
    const calls = read.calls.map(toCallDelta);
    return {
      ...rest,
      ...(content !== '' && { content }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
  }

  private endedBy(reason: string | null): string | null {
    return reason === 'stop' && this.required.calls + this.marked.calls > 0 ? 'tool_calls' : reason;
  }

  private toLegacy(upstream: Fields): LegacyLogprobs {
    // vLLM already sends this shape.
    if (Array.isArray(upstream.tokens)) return upstream as LegacyLogprobs;
    let at = this.offset;
    const { content } = toLogprobs(upstream, this.options.candidates);
    return {
      tokens: content.map(({ token }) => token),
      token_logprobs: content.map(({ logprob }) => logprob),
      top_logprobs: content.map(({ top_logprobs: top }) =>
        Object.fromEntries((top ?? []).map(({ token, logprob }) => [token, logprob])),
      ),
      text_offset: content.map(({ token }) => {
        at += token.length;
        return at - token.length;
      }),
    };
  }
}

export function toWireUsage({ promptTokens, completionTokens }: Usage): NonNullable<Chunk['usage']> {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** llama.cpp gives every answer the prefix 'chatcmpl-'. Text completions need 'cmpl-'. */
function toId(id: string, object: string): string {
  return object === 'text_completion' ? id.replace(/^chatcmpl-/, 'cmpl-') : id;
}

/** Clients get thoughts in `reasoning_content`, which is llama.cpp's field. vLLM uses `reasoning`. */
function toDelta({ role, content, reasoning_content, reasoning, tool_calls: calls }: Fields): Delta {
  const thought = reasoning_content ?? reasoning;
  return {
    ...(typeof role === 'string' && { role }),
    ...((typeof content === 'string' || content === null) && { content }),
    ...(typeof thought === 'string' && { reasoning_content: thought }),
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: calls.map(toPiece).map(toCallDelta) }),
  };
}

/** Converts a tool call that the model server parsed. */
function toPiece(call: unknown): CallPiece {
  const { index, function: said } = fieldsOf(call) ?? {};
  const { name, arguments: more } = fieldsOf(said) ?? {};
  return {
    index: count(index),
    ...(typeof name === 'string' && { name }),
    arguments: typeof more === 'string' ? more : '',
  };
}

/** The first piece of a call contains the function's name. */
function toCallDelta({ index, name, arguments: more }: CallPiece): CallDelta {
  if (name === undefined) return { index, function: { arguments: more } };
  const id = `call_${randomUUID().replaceAll('-', '')}`;
  return { index, id, type: 'function', function: { name, arguments: more } };
}

function toLogprobs(upstream: Fields, candidates: number): Logprobs {
  const content = Array.isArray(upstream.content) ? (upstream.content as TokenLogprob[]) : [];
  return {
    content: content.map((one) => ({ ...one, top_logprobs: (one.top_logprobs ?? []).slice(0, candidates) })),
  };
}

/** The usage in llama.cpp's progress events splits the prompt into cached and processed tokens. */
function readUsage(data: Fields, engine: Options['engine']): Usage | null {
  const usage = fieldsOf(data.usage);
  if (usage) {
    return {
      promptTokens: count(usage.prompt_tokens),
      completionTokens: count(usage.completion_tokens),
    };
  }
  if (engine !== 'llamacpp') return null;
  const progress = fieldsOf(data.prompt_progress);
  if (progress) return { promptTokens: count(progress.processed), completionTokens: 0 };
  const timings = fieldsOf(data.timings);
  return (
    timings && {
      promptTokens: count(timings.cache_n) + count(timings.prompt_n),
      completionTokens: count(timings.predicted_n),
    }
  );
}

/** vLLM always reports the stop text that ended an answer; llama.cpp does so only with `verbose`. */
function stopOf(data: Fields, choice: Fields | undefined): string | null {
  const said = fieldsOf(data.__verbose)?.stopping_word ?? choice?.stop_reason;
  return typeof said === 'string' && said !== '' ? said : null;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? Math.min(value, TOKENS_MAX) : 0;
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}
