import * as z from 'zod';
import type { CompletionBody } from './completion-request.ts';

/** Invisible character. A control token with a joiner inside is read as plain text. */
const JOINER = '\u2060';
/**
 * Matches texts that may contain a control token: a '<', or a word in brackets. Examples: `<|im_end|>`,
 * `<BOS_TOKEN>`, `[gMASK]`.
 */
const MAY_BE_CONTROL = /<|\[[/_\p{L}]/u;

type Part = { text?: string };
type Message = {
  name?: string | null;
  content?: string | Part[] | null;
  tool_calls?: { function: { arguments: string } }[] | null;
};

/** Returns true if the messages or tools of a chat may contain a control token. */
export function mayContainControlTokens({ messages, tools }: CompletionBody): boolean {
  return messages !== undefined && MAY_BE_CONTROL.test(JSON.stringify([messages, tools ?? null]));
}

/** Turns control tokens in messages and tool descriptions into plain text, which cannot end a turn. */
export function neutralizeControlTokens(body: CompletionBody, controls: string[]): CompletionBody {
  // Longer tokens first, because one token may be the start of another.
  const known = controls.filter((one) => one.length > 2).sort((one, other) => other.length - one.length);
  if (known.length === 0) return body;
  const control = new RegExp(known.map((one) => RegExp.escape(one)).join('|'), 'g');
  const plain = (text: string) => text.replace(control, (found) => found[0] + JOINER + found.slice(1));
  const messages = (body.messages as Message[]).map(({ content, name, tool_calls: calls, ...rest }) => ({
    ...rest,
    ...(name && { name: plain(name) }),
    content: Array.isArray(content)
      ? content.map((part) => (part.text === undefined ? part : { ...part, text: plain(part.text) }))
      : content && plain(content),
    ...(calls && {
      tool_calls: calls.map((call) => ({
        ...call,
        function: { ...call.function, arguments: plain(call.function.arguments) },
      })),
    }),
  }));
  const withPlainText = (key: string, value: unknown) =>
    PROSE.has(key) && typeof value === 'string' ? plain(value) : value;
  const tools = body.tools && (JSON.parse(JSON.stringify(body.tools, withPlainText)) as unknown);
  return { ...body, messages, ...(tools !== undefined && { tools }) };
}

/** Fields of tools and their schemas that the model reads and that do not bind its answer. */
const PROSE = new Set(['description', 'title']);

const configurationShape = z.object({
  added_tokens_decoder: z.record(
    z.string(),
    z.object({ content: z.string(), special: z.boolean().optional() }),
  ),
});

/** Returns the control tokens of a `tokenizer_config.json`. */
export function controlsInConfiguration(configuration: string): string[] {
  try {
    const { added_tokens_decoder: added } = configurationShape.parse(JSON.parse(configuration));
    return Object.values(added).flatMap(({ content, special }) => (special ? [content] : []));
  } catch {
    return [];
  }
}

/** Returns the control tokens in the head of a `tokenizer.json`; the whole file may have 30 MB. */
export function controlsInTokenizer(head: string): string[] {
  const list = /"added_tokens"\s*:\s*\[/g;
  if (!list.test(head)) return [];
  // Consecutive objects without nested values.
  const entry = /\s*(\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})\s*,?/y;
  entry.lastIndex = list.lastIndex;
  const controls: string[] = [];
  for (let found = entry.exec(head); found?.[1]; found = entry.exec(head)) {
    const token = tokenShape.safeParse(parseJson(found[1]));
    if (token.data?.special) controls.push(token.data.content);
  }
  return controls;
}

const tokenShape = z.object({ content: z.string(), special: z.boolean() });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
