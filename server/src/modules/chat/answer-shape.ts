import { ignoredFields } from '@bakehouse/contract/fields/chat-body';
import type * as z from 'zod';
import type { AppError } from '../../platform/errors.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';
import type { CompletionBody } from './body/completion-request.ts';
import {
  type CallDelta,
  type Choice,
  type Chunk,
  type CompletionStream,
  type LegacyLogprobs,
  type Logprobs,
  toWireUsage,
  type Usage,
} from './completion-stream.ts';
import { CustomCalls, type IsCustom } from './tools/chat-tools.ts';
import { toInput } from './tools/client-tools.ts';

/** Joins the chunks of a stream into one non-streamed answer. */
export class WholeAnswer {
  private head: Pick<Chunk, 'id' | 'created' | 'model'> | null = null;
  private readonly choices: WholeChoice[] = [];
  private readonly isCustom: IsCustom;

  constructor(isCustom: IsCustom = () => false) {
    this.isCustom = isCustom;
  }

  add({ id, created, model, choices }: Chunk): void {
    this.head ??= { id, created, model };
    for (const choice of choices) (this.choices[choice.index] ??= new WholeChoice(this.isCustom)).add(choice);
  }

  /** Marks the answer as truncated, for example at the maximum number of tokens. */
  cut(): void {
    for (const choice of this.choices) choice.cut();
  }

  toJson(usage: Usage): object {
    const choices = this.choices.length > 0 ? this.choices : [new WholeChoice(this.isCustom)];
    return {
      id: this.head?.id ?? '',
      object: choices[0]?.isChat ? 'chat.completion' : 'text_completion',
      created: this.head?.created ?? 0,
      model: this.head?.model ?? '',
      choices: choices.map((choice, index) => ({ index, ...choice.toJson() })),
      usage: toWireUsage(usage),
    };
  }
}

class WholeChoice {
  isChat = false;
  private readonly text: string[] = [];
  private readonly reasoning: string[] = [];
  private readonly logprobs: NonNullable<Choice['logprobs']>[] = [];
  private readonly calls: Call[] = [];
  private finishReason: string | null = null;
  private readonly isCustom: IsCustom;

  constructor(isCustom: IsCustom) {
    this.isCustom = isCustom;
  }

  add({ delta, text, logprobs, finish_reason: finishReason }: Choice): void {
    if (delta) this.isChat = true;
    this.text.push(delta?.content ?? text ?? '');
    this.reasoning.push(delta?.reasoning_content ?? '');
    for (const call of delta?.tool_calls ?? []) this.addCall(call);
    if (logprobs) this.logprobs.push(logprobs);
    this.finishReason = finishReason ?? this.finishReason;
  }

  cut(): void {
    this.finishReason ??= 'length';
  }

  toJson(): object {
    return { ...(this.isChat ? this.chatChoice() : this.textChoice()), finish_reason: this.finishReason };
  }

  private addCall({ index, id, function: { name, arguments: more } }: CallDelta): void {
    const call = (this.calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
    call.id ||= id ?? '';
    call.function.name ||= name ?? '';
    call.function.arguments += more;
  }

  private toClientCall(call: Call): object {
    const { name, arguments: written } = call.function;
    if (!this.isCustom(name)) return call;
    return { id: call.id, type: 'custom', custom: { name, input: toInput(written) } };
  }

  private chatChoice(): object {
    const parts = this.logprobs as Logprobs[];
    const reasoning = this.reasoning.join('');
    const content = this.text.join('');
    const calls = this.calls.filter(Boolean).map((call) => this.toClientCall(call));
    return {
      message: {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        ...(reasoning && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      },
      logprobs: parts.length > 0 ? { content: parts.flatMap((part) => part.content) } : null,
    };
  }

  private textChoice(): object {
    const parts = this.logprobs as LegacyLogprobs[];
    const joined: LegacyLogprobs = {
      tokens: parts.flatMap((part) => part.tokens),
      token_logprobs: parts.flatMap((part) => part.token_logprobs),
      top_logprobs: parts.flatMap((part) => part.top_logprobs),
      text_offset: parts.flatMap((part) => part.text_offset),
    };
    return { text: this.text.join(''), logprobs: parts.length > 0 ? joined : null };
  }
}

/** Returns a comment in an event stream, which clients ignore; the web app shows its reason. */
export function waitingComment(reason: string): string {
  return `: waiting${reason && `, ${reason.replaceAll(/\s+/g, ' ')}`}\n\n`;
}

const NAMES_MAX = 20;
const NAME_LENGTH_MAX = 64;
const HEADER_LENGTH_MAX = 2000;

/** The format in which an endpoint writes its answer, streamed or not. */
export type AnswerShape = {
  /** Returns the stream's text before the answer. */
  begin: () => string;
  /** Adds chunks of the answer and returns their text in the stream. */
  add: (chunks: Chunk[], answer: Pick<CompletionStream, 'usage' | 'stopSequence'>) => string;
  /** Marks the answer as truncated, for example at the maximum number of tokens. */
  cut: () => void;
  /** Returns the last text of the stream. */
  end: (usage: Usage) => string | Promise<string>;
  /** Returns the answer that is not streamed. */
  whole: (usage: Usage) => object | Promise<object>;
  /** Returns the text that keeps an idle stream open; the reason for the wait may be empty. */
  waiting: (reason: string) => string;
  /** Returns the text that ends a failed stream. */
  failure: (error: AppError, requestId: string) => string;
};

/** Returns the response header with the warnings, if any. */
export function warningHeaders(warnings: string[]): Record<string, string> {
  if (warnings.length === 0) return {};
  const text = warnings.join('; ');
  return { 'bakehouse-warning': text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, HEADER_LENGTH_MAX) };
}

/** Returns the answer shape of chat completions and text completions. */
export function chatShape(
  { stream, stream_options: options }: CompletionBody,
  isCustom: IsCustom = () => false,
): AnswerShape {
  const whole = new WholeAnswer(isCustom);
  const calls = new CustomCalls(isCustom);
  let head = { id: '', object: '', created: 0, model: '' };
  return {
    begin: () => '',
    add: (chunks) => {
      for (const { id, object, created, model } of chunks)
        head = { id, object, created: head.created || created, model };
      // Model servers send the time of each chunk; OpenAI sends the time of the first.
      const { created } = head;
      if (stream) return chunks.map((chunk) => toEvent({ ...calls.rewrite(chunk), created })).join('');
      for (const chunk of chunks) whole.add(chunk);
      return '';
    },
    cut: () => whole.cut(),
    end: (usage) => {
      const last = { ...head, choices: [], usage: toWireUsage(usage) };
      return `${options?.include_usage ? toEvent(last) : ''}data: [DONE]\n\n`;
    },
    whole: (usage) => whole.toJson(usage),
    waiting: waitingComment,
    failure: (error, requestId) => toEvent(toErrorBody(error, requestId)),
  };
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };

/** Returns one warning about unknown fields, or none. */
export function ignoredWarning(schema: z.ZodType | undefined, body: object): string[] {
  const names = ignoredFields((schema as z.ZodObject).shape, body);
  if (names.length === 0) return [];
  const shown = names.slice(0, NAMES_MAX).map((name) => name.slice(0, NAME_LENGTH_MAX));
  return [`ignored fields: ${shown.join(', ')}${names.length > NAMES_MAX ? ', ...' : ''}`];
}

/** Returns the body without unknown fields, because some names have a meaning inside this server. */
export function knownFields<Body extends object>(schema: z.ZodType | undefined, body: Body): Body {
  const ignored = new Set(ignoredFields((schema as z.ZodObject).shape, body));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !ignored.has(name))) as Body;
}
