import type { AppError } from '../../platform/errors.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';
import type { CompletionBody } from './body/completion-request.ts';
import { type Chunk, type CompletionStream, toWireUsage, type Usage } from './completion-stream.ts';
import { CustomCalls, type IsCustom } from './tools/chat-tools.ts';
import { WholeAnswer } from './whole-answer.ts';

/** How an endpoint writes an answer: as a stream, or in one piece. */
export type AnswerShape = {
  /** Returns the stream's text before the answer. */
  begin: () => string;
  /** Adds chunks of the answer and returns their text in the stream. */
  add: (chunks: Chunk[], answer: Pick<CompletionStream, 'usage' | 'stopSequence'>) => string;
  /** Marks the answer as truncated, for example at a maximum of tokens. */
  cut: () => void;
  /** Returns the last text of the stream. */
  end: (usage: Usage) => string | Promise<string>;
  /** The answer in one piece. */
  whole: (usage: Usage) => object | Promise<object>;
  /** Text that keeps an idle stream open. */
  waiting: string;
  /** Returns the text that ends a failed stream. */
  failure: (error: AppError, requestId: string) => string;
};

/** A comment that clients of event streams ignore. */
export const WAITING = ': waiting\n\n';

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
    waiting: WAITING,
    failure: (error, requestId) => toEvent(toErrorBody(error, requestId)),
  };
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
