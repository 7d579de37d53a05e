import type { AppError } from '../../platform/errors.ts';
import { toErrorBody } from '../../platform/http/send-error.ts';
import type { CompletionBody } from './body/completion-request.ts';
import { type Chunk, type CompletionStream, toWireUsage, type Usage } from './completion-stream.ts';
import { CustomCalls, type IsCustom } from './tools/chat-tools.ts';
import { WholeAnswer } from './whole-answer.ts';

/** How an answer leaves, as the call has it that asked: as a stream, or in one piece. */
export type AnswerShape = {
  /** What a stream says before the answer. */
  begin: () => string;
  /** Takes what has come of an answer; returns what a stream says of it. */
  add: (chunks: Chunk[], answer: Pick<CompletionStream, 'usage' | 'stopSequence'>) => string;
  /** Nothing more comes: as where a maximum of tokens ends an answer. */
  cut: () => void;
  /** What a stream ends with. */
  end: (usage: Usage) => string | Promise<string>;
  /** The answer in one piece. */
  whole: (usage: Usage) => object | Promise<object>;
  /** What a stream says where nothing comes for a while. */
  waiting: string;
  /** What ends a stream that breaks off. */
  failure: (error: AppError, requestId: string) => string;
};

/** What clients of event streams pass over. */
export const WAITING = ': waiting\n\n';

/** That of a chat, and of a completion of plain text. */
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
      // Model servers say when they wrote each piece, and OpenAI says when the answer began.
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
