import { toolsOf, toServerTool } from '../tools/asked-tools.ts';

/** Tokens that a chat template adds to the messages, such as a default system prompt. Few add more. */
const TEMPLATE_TOKENS = 512;

/** Tokens per byte of a tool's JSON, which a template may write with spaces and line breaks. */
const TOOL_TOKENS = 2;

/** Returns the maximum number of prompt tokens: a token has at least one byte. */
export function longestPrompt(body: Record<string, unknown>): number {
  const { messages, prompt, response_format: format, chat_template_kwargs: kwargs } = body;
  const tools = toolsOf(body)?.tools ?? [];
  return (
    Buffer.byteLength(JSON.stringify([messages ?? prompt, format, kwargs])) +
    TOOL_TOKENS *
      Buffer.byteLength(JSON.stringify(tools.map((tool) => toServerTool(tool, { isRead: false })))) +
    (messages ? TEMPLATE_TOKENS : 0)
  );
}
