import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createResponse } from '@bakehouse/contract/responses';
import type { CompletionBody } from '../body/completion-request.ts';
import {
  functionNameOf,
  type OfferedTool,
  type OfferedTools,
  offerTools,
  type ToolName,
  toArguments,
} from '../tools/client-tools.ts';

export type ResponseBody = InputOf<typeof createResponse>['body'];

type SentTool = NonNullable<ResponseBody['tools']>[number];
export type Item = Exclude<ResponseBody['input'], string>[number];
type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };
type Message = { role: string; content: unknown; tool_calls?: Call[]; tool_call_id?: string };

/**
 * A chat made from a response request. `places` are the fields of the request from which its messages come.
 */
export type AskedChat = { body: CompletionBody; places: string[]; offered: OfferedTools };

/** Converts a response request into a chat; `items` are all items that the model reads. */
export function toChat(asked: ResponseBody, items: Item[]): AskedChat {
  const { messages, places } = toMessages(asked, items);
  const choice = asked.tool_choice;
  const allowed = allowedOf(choice);
  const offered = offerTools((asked.tools ?? []).flatMap(toAskedTools), allowed?.tools ?? null);
  return {
    ...{ places, offered },
    body: {
      ...{ model: asked.model, messages, stream: asked.stream ?? false },
      ...{ temperature: asked.temperature, top_p: asked.top_p },
      max_completion_tokens: asked.max_output_tokens,
      tools: offered.tools,
      tool_choice: allowed ? allowed.mode : toChoice(choice),
      parallel_tool_calls: asked.parallel_tool_calls,
      response_format: toFormat(asked.text?.format),
      ...{ reasoning_effort: asked.reasoning?.effort, verbosity: asked.text?.verbosity },
    },
  };
}

function toMessages(
  { instructions, input }: ResponseBody,
  items: Item[],
): { messages: Message[]; places: string[] } {
  const messages: Message[] = [];
  const places: string[] = [];
  const add = (message: Message, place: string) => {
    messages.push(message);
    places.push(place);
  };
  if (instructions) add({ role: 'system', content: instructions }, 'instructions');
  // The list starts with items of earlier responses and ends with the sent ones, which get an index.
  const sent = typeof input === 'string' ? 1 : input.length;
  for (const [at, item] of items.entries()) {
    const index = at - (items.length - sent);
    const place = index < 0 ? 'previous_response_id' : typeof input === 'string' ? 'input' : `input.${index}`;
    addItem(item, place, { messages, add });
  }
  return { messages, places };
}

type Added = { messages: Message[]; add: (message: Message, place: string) => void };

function addItem(item: Item, place: string, { messages, add }: Added): void {
  if (item.type === 'reasoning') return;
  if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
    return add({ role: 'tool', content: toText(item.output), tool_call_id: item.call_id }, place);
  if (item.type === 'function_call' || item.type === 'custom_tool_call') {
    const { call_id: id, ...called } = item;
    const written = called.type === 'function_call' ? called.arguments : toArguments(called.input);
    const call: Call = {
      id,
      type: 'function',
      function: { name: functionNameOf(called), arguments: written },
    };
    const last = messages.at(-1);
    // An answer's text and calls are separate items in a response, but one message in a chat.
    if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), call];
    else add({ role: 'assistant', content: null, tool_calls: [call] }, place);
    return;
  }
  add({ role: item.role as string, content: toContent(item.content) }, place);
}

type Part = { type: string; text?: string; image_url?: string };

function toContent(content: unknown): unknown {
  const parts = Array.isArray(content) ? (content as Part[]) : [];
  if (!parts.some(({ type }) => type === 'input_image')) return toText(content);
  return parts.map(({ type, text, image_url: url }) =>
    type === 'input_image' ? { type: 'image_url', image_url: { url } } : { type: 'text', text },
  );
}

function toText(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map(({ text }: { text?: string }) => text ?? '').join('\n');
}

/** Flattens a namespace into its tools. */
function toAskedTools(sent: SentTool, index: number): OfferedTool[] {
  const place = `tools.${index}`;
  if (sent.type !== 'namespace') return [{ ...(sent as Omit<OfferedTool, 'place'>), place }];
  const { name: namespace, tools } = sent as { name: string; tools: Omit<OfferedTool, 'place'>[] };
  return tools.map((tool, at) => ({ ...tool, namespace, place: `${place}.tools.${at}` }));
}

/** Returns the allowed tools of a choice, if it names several. */
function allowedOf(choice: ResponseBody['tool_choice']): { mode: string; tools: ToolName[] } | null {
  return typeof choice === 'object' && choice?.type === 'allowed_tools' ? choice : null;
}

function toChoice(choice: ResponseBody['tool_choice']): unknown {
  if (typeof choice !== 'object' || choice === null) return choice;
  return { type: 'function', function: { name: functionNameOf(choice as ToolName) } };
}

function toFormat(format: NonNullable<ResponseBody['text']>['format']): unknown {
  if (format?.type !== 'json_schema') return format ?? undefined;
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}
