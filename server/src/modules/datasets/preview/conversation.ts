import type { filePreview } from '@bakehouse/contract/assets';
import type { DataFormatName } from '@bakehouse/contract/limits';
import type * as z from 'zod';
import { cut } from './table.ts';

/**
 * Matches the start of a list that Python or NumPy has printed, if it contains more than numbers and words.
 */
const PRINTED_LIST = /^\s*(?:array\(\s*)?[[(]\s*(?:array\(|[[{("'\]])/;

/**
 * Matches where printed Python and NumPy values differ from JSON: quotes, words, tuples, arrays, and items
 * without commas. Avoids quadratic backtracking: an unclosed quote or a run of blanks is tried only once.
 */
const PRINTED =
  /(?<text>(?<!\\)(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))|(?<gap>(?<=[\]}'"\w])\s+(?=[[{'"\w-]))|(?<none>\barray\(\s*|,\s*dtype=[^()]{0,64}\)|,\s*(?=[\]})]))|(?<word>\b(?:None|nan|NaN|True|False)\b)|(?<bracket>[()])/gs;

const WRITTEN = new Map([
  ['None', 'null'],
  ['nan', 'null'],
  ['NaN', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['(', '['],
  [')', ']'],
]);

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs;

const ESCAPES = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
]);

const LAST_CHARACTER = 0x10ffff;
const TURNS_MAX = 20;
const TURN_CHARS_MAX = 2_000;

const DIALOGUES = new Set<DataFormatName>(['messages', 'sharegpt']);

/** Roles by the speaker's name, which is compared ignoring case. Other names are shown unchanged. */
const ROLES = new Map([
  ['system', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['human', 'user'],
  ['prompter', 'user'],
  ['gpt', 'assistant'],
  ['chatgpt', 'assistant'],
  ['model', 'assistant'],
  ['bot', 'assistant'],
  ['ai', 'assistant'],
  ['bard', 'assistant'],
  ['bing', 'assistant'],
  ['developer', 'system'],
  ['function_call', 'assistant'],
  ['tool_call', 'assistant'],
  ['tool', 'tool'],
  ['function', 'tool'],
  ['ipython', 'tool'],
  ['observation', 'tool'],
  ['tool_response', 'tool'],
]);

type Conversation = z.infer<typeof filePreview>['conversations'][number];

export function isDialogue({ format }: { format: DataFormatName }): boolean {
  return DIALOGUES.has(format);
}

/**
 * Returns the turns in a cell. csv files store them as JSON, or as Python prints them. Undefined if the cell
 * contains no conversation.
 */
function toTurns(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? parseList(value) : undefined;
}

/**
 * Returns the first turns of a conversation, with at most `chars` characters. Empty if the cell contains no
 * conversation. Leaves out a blank system prompt, like training.
 */
export function readConversation(value: unknown, chars: number): Conversation {
  const turns = (toTurns(value) ?? []).filter((turn) => !isBlankPrompt(turn));
  const shown = turns.slice(0, TURNS_MAX);
  const turnChars = Math.min(TURN_CHARS_MAX, Math.floor(chars / Math.max(1, shown.length)));
  return { turns: shown.map((turn) => toTurn(turn, turnChars)), turn_count: turns.length };
}

function toTurn(value: unknown, chars: number): Conversation['turns'][number] {
  const { role, content } = readTurn(value);
  return { role: cut(role, 40), content: cut(content, chars) };
}

function isBlankPrompt(value: unknown): boolean {
  const { role, content } = readTurn(value);
  return role === 'system' && content.trim() === '';
}

function readTurn(value: unknown): { role: string; content: string } {
  const turn: Record<string, unknown> = typeof value === 'object' && value !== null ? { ...value } : {};
  const role = toText(turn.role ?? turn.from);
  return {
    role: ROLES.get(role.trim().toLowerCase()) ?? role,
    content: [joinedParts(turn.content ?? turn.value), ...calls(turn)].filter(Boolean).join('\n'),
  };
}

/** Returns the tool calls of a turn in training's format: `weather({"city": "Paris"})`. */
function calls(turn: Record<string, unknown>): string[] {
  const made = turn.tool_calls ?? turn.function_call ?? [];
  return (Array.isArray(made) ? made : [made]).map((call: unknown) => {
    const { function: named = call }: { function?: unknown } = Object(call);
    const { name, arguments: given = {} }: { name?: unknown; arguments?: unknown } = Object(named);
    return `${toText(name)}(${toText(given)})`;
  });
}

/** Returns the text of a message's content. Joins content parts if all of them are text, like training. */
function joinedParts(content: unknown): string {
  if (!Array.isArray(content)) return toText(content);
  const texts = content.map((part: unknown) => {
    const { type, text }: { type?: unknown; text?: unknown } = Object(part);
    return type === 'text' && typeof text === 'string' ? text : undefined;
  });
  return texts.includes(undefined) ? toText(content) : texts.join('');
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/**
 * Parses a list that is stored as text: csv has no lists, and pandas writes them as Python prints them.
 * Undefined for any other text. Keep in step with the runtime's `data/cells.py`.
 */
export function parseList(text: string): unknown[] | undefined {
  if (!/^\s*(\[|array\()/.test(text)) return undefined;
  const value = parse(text) ?? (isPrinted(text) ? parse(jsonOf(text)) : undefined);
  return Array.isArray(value) ? value : undefined;
}

function isPrinted(text: string): boolean {
  return PRINTED_LIST.test(text) && /[\])]$/.test(text.trimEnd());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonOf(printed: string): string {
  return printed.replace(PRINTED, (...match) => {
    const [whole] = match;
    const { text, gap, none }: Record<string, string | undefined> = match.at(-1);
    if (text !== undefined) return quoted(text);
    if (gap !== undefined) return ',';
    return none === undefined ? (WRITTEN.get(whole) ?? whole) : '';
  });
}

/** Converts a Python string literal to a JSON string literal. */
function quoted(text: string): string {
  const plain = text.slice(1, -1).replace(ESCAPE, (whole, x, u, long, mark: string | undefined) => {
    if (mark !== undefined) return ESCAPES.get(mark) ?? whole;
    const code = Number.parseInt(x ?? u ?? long, 16);
    return code <= LAST_CHARACTER ? String.fromCodePoint(code) : whole;
  });
  return JSON.stringify(plain);
}
