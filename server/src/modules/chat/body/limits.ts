import { AppError } from '../../../platform/errors.ts';
import { pictureTokensMax } from '../pictures/chat-pictures.ts';
import { toolsOf, toServerTool } from '../tools/callable-tools.ts';

/**
 * Allowance for tokens that a chat template adds, such as a default system prompt. Few templates add more.
 */
const TEMPLATE_TOKENS = 512;

/** Maximum tokens per byte of a tool's JSON. A template may add spaces and line breaks to it. */
const TOOL_TOKENS = 2;

/**
 * Returns the maximum number of prompt tokens. Each token has at least one byte, so the number of bytes is an
 * upper bound. Pictures count separately.
 */
export function longestPrompt(body: Record<string, unknown>): number {
  const { messages, prompt, response_format: format, chat_template_kwargs: kwargs } = body;
  const tools = toolsOf(body)?.tools ?? [];
  return (
    Buffer.byteLength(JSON.stringify([messages ?? prompt, format, kwargs])) +
    TOOL_TOKENS *
      Buffer.byteLength(JSON.stringify(tools.map((tool) => toServerTool(tool, { isRead: false })))) +
    (messages ? TEMPLATE_TOKENS : 0) +
    pictureTokensMax(body)
  );
}

/**
 * Returns the error for a prompt longer than the context. Clients that shorten conversations automatically
 * recognise its code and the beginning of OpenAI's sentence.
 */
export function contextExceeded(
  { messages }: Record<string, unknown>,
  { most, sent }: { most: number | undefined; sent?: number | undefined },
): AppError {
  const what = messages ? 'conversation' : 'prompt';
  const excess =
    most === undefined
      ? `The ${what} is longer than this model's maximum context length`
      : `This model's maximum context length is ${most} tokens${
          sent !== undefined && sent > most ? `, but the ${what} has ${sent}` : ''
        }`;
  const advice = messages ? 'Shorten the conversation or start a new one' : 'Shorten the prompt';
  return new AppError('context_length_exceeded', {
    publicMessage: `${excess}. ${advice}`,
    param: messages ? 'messages' : 'prompt',
  });
}
