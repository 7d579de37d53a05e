import { toolsOf, toServerTool } from '../tools/asked-tools.ts';

/** What a model's chat template says beside the messages, as a system prompt of its own. Hardly one says more. */
const TEMPLATE_TOKENS = 512;

/** What a chat template says of a tool for each byte of its JSON, which it may write with spaces and line ends. */
const TOOL_TOKENS = 2;

/** How many tokens a model reads of a request at most: a token is a byte at least, and what a template says around a message is shorter than its JSON. Pure. */
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
