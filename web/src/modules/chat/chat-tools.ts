import type { ChatMessage, ChatTools, Turn } from './chat.ts';

/** Functions as typed in the settings. */
export type TypedTools = { definitions: string; required: boolean };

/** Returns the problem that blocks sending, or undefined. */
export function toolsProblem({ definitions }: TypedTools): string | undefined {
  if (definitions.trim() === '') return;
  const tools = parse(definitions);
  if (!Array.isArray(tools)) return 'Must be a JSON list of functions, such as [{"type": "function", …}]';
  const unnamed = tools.findIndex((tool) => typeof tool?.function?.name !== 'string');
  if (unnamed >= 0)
    return `Function ${unnamed + 1} must have a name: {"type": "function", "function": {"name": …}}`;
  return;
}

/** Returns the functions to send, or undefined. After results, the model does not have to call one. */
export function toolsFor(typed: TypedTools | undefined, question: Turn): ChatTools | undefined {
  const definitions = typed && parse(typed.definitions);
  if (!typed || !Array.isArray(definitions) || definitions.length === 0) return undefined;
  return { definitions, required: typed.required && !question.results };
}

/** Returns the messages to send: the system prompt, if any, then the turns. */
export function toChatMessages(turns: Turn[], system: string): ChatMessage[] {
  const messages = turns.flatMap(toMessages);
  return system ? [{ role: 'system', content: system }, ...messages] : messages;
}

function toMessages({ role, content, calls, results }: Turn): ChatMessage[] {
  if (results)
    return results.map(({ id, content: said }) => ({ role: 'tool', content: said, tool_call_id: id }));
  if (!calls) return [{ role, content }];
  const tool_calls = calls.map(({ id, ...call }) => ({ id, type: 'function' as const, function: call }));
  return [{ role: 'assistant', content, tool_calls }];
}

function parse(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
