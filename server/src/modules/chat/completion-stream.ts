import { randomUUID } from 'node:crypto';
import type { TextEngine } from '../serving/text-spec.ts';
import { type CallPiece, MarkedCalls, RequiredCalls } from './tools/required-calls.ts';

/** What one answer used so far, read off the model server's own stream. */
export type Usage = { promptTokens: number; completionTokens: number };

/** One piece of an answer as it leaves the gateway. */
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
  /** Of a chat. */
  delta?: Delta;
  /** Of a completion of plain text. */
  text?: string;
  logprobs?: Logprobs | LegacyLogprobs | null;
  finish_reason: string | null;
};

/** Log-probabilities as completions of plain text have them. */
export type LegacyLogprobs = {
  tokens: string[];
  token_logprobs: number[];
  top_logprobs: Record<string, number>[];
  text_offset: number[];
};

type Options = {
  engine: TextEngine;
  /** The name that the caller asked for. */
  modelName: string;
  /** How many candidates beside each token the caller asked for; a server may show more. */
  candidates: number;
  /** How an answer is read that a grammar binds; null or left out: as the model server has read it. */
  binding?: 'required' | 'choice' | 'answer' | null;
  /** Which of several answers it is, and the id that they share once the first has one. */
  index?: number;
  id?: string | null;
};

type Fields = Record<string, unknown>;

/** Far more than any event has: the scores of twenty candidates for a token are some kilobytes. */
const EVENT_CHARS_MAX = 1024 * 1024;
/** No model reads or writes so many. What a model server counts beyond it is not believed: it may have been taken over. */
const TOKENS_MAX = 10_000_000;

/** The model server said in the middle of an answer that it cannot go on, or its answer is none. */
export class AnswerFailed extends Error {}

/**
 * Follows the event stream of a model server. Of each event only what OpenAI's format has goes on:
 * what else a server tells (its timings, what it found in its cache) would tell of other users. The
 * usage is known at every moment, so an answer that breaks off is charged for what was computed.
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

  /** Takes text as it comes; returns the chunks that are whole. Throws AnswerFailed. */
  push(text: string): Chunk[] {
    this.buffered += text;
    const chunks: Chunk[] = [];
    for (;;) {
      const end = this.buffered.indexOf('\n\n');
      if (end < 0 && this.buffered.length > EVENT_CHARS_MAX)
        throw new AnswerFailed('an event without an end');
      if (end < 0) return chunks;
      const chunk = this.take(this.buffered.slice(0, end));
      this.buffered = this.buffered.slice(end + 2);
      if (chunk) chunks.push(chunk);
    }
  }

  /** How many events have come. */
  get events(): number {
    return this.heard;
  }

  /** Whether a token has come. */
  get started(): boolean {
    return this.lastUsage.completionTokens > 0;
  }

  /** Whether the answer came to its end. */
  get complete(): boolean {
    return this.ended;
  }

  get usage(): Usage {
    return this.lastUsage;
  }

  /** The id that its chunks have; null until one has come. */
  get id(): string | null {
    return this.head.id || null;
  }

  /** Which of the texts that end an answer has ended it; null where none has, or nothing was asked to tell. */
  get stopSequence(): string | null {
    return this.stoppedBy;
  }

  private take(event: string): Chunk | null {
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
    // llama.cpp tells in events of their own how much of the prompt it has read.
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
      // The event that had it may be one that told of the prompt, and went no further.
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
    // vLLM has the shape already.
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

/** llama.cpp calls every answer one of a chat. */
function toId(id: string, object: string): string {
  return object === 'text_completion' ? id.replace(/^chatcmpl-/, 'cmpl-') : id;
}

/** What a model thinks leaves by llama.cpp's name for it; vLLM has another. */
function toDelta({ role, content, reasoning_content, reasoning, tool_calls: calls }: Fields): Delta {
  const thought = reasoning_content ?? reasoning;
  return {
    ...(typeof role === 'string' && { role }),
    ...((typeof content === 'string' || content === null) && { content }),
    ...(typeof thought === 'string' && { reasoning_content: thought }),
    ...(Array.isArray(calls) && calls.length > 0 && { tool_calls: calls.map(toPiece).map(toCallDelta) }),
  };
}

/** What a model server says of a call that it has read. */
function toPiece(call: unknown): CallPiece {
  const { index, function: said } = fieldsOf(call) ?? {};
  const { name, arguments: more } = fieldsOf(said) ?? {};
  return {
    index: count(index),
    ...(typeof name === 'string' && { name }),
    arguments: typeof more === 'string' ? more : '',
  };
}

/** The first piece of a call names it. */
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

/** llama.cpp counts the prompt in two parts: what it had in its cache, and what it had to read. */
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

/** vLLM says by itself which text has ended an answer, llama.cpp where it is asked to be verbose. */
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
