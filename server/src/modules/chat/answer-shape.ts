import type { ErrorBody } from '@bakehouse/contract/errors';
import type { CompletionBody } from './body/completion-request.ts';
import type { Chunk, Usage } from './completion-stream.ts';
import type { WholeAnswer } from './whole-answer.ts';

/** How an answer leaves, as the call has it that asked. */
export type AnswerShape = {
  /** What a stream says before the answer. */
  begin: () => string;
  chunks: (chunks: Chunk[]) => string;
  end: (usage: Usage, usageChunk: Chunk) => string | Promise<string>;
  /** What ends a stream that breaks off. */
  failure: (body: ErrorBody) => string;
  /** Of an answer in one piece. */
  whole: (answer: ReturnType<WholeAnswer['toJson']>, usage: Usage) => object | Promise<object>;
};

/** That of a chat, and of a completion of plain text. */
export function chatShape({ stream_options: options }: CompletionBody): AnswerShape {
  return {
    begin: () => '',
    chunks: (chunks) => chunks.map(toEvent).join(''),
    end: (_usage, usageChunk) => `${options?.include_usage ? toEvent(usageChunk) : ''}data: [DONE]\n\n`,
    failure: toEvent,
    whole: (answer) => answer,
  };
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
