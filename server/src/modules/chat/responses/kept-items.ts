import { randomUUID } from 'node:crypto';

type Fields = Record<string, unknown>;

/** What is known of each item; whatever else was sent with it is not kept. */
const KNOWN = [
  ...[
    'type',
    'id',
    'status',
    'role',
    'content',
    'call_id',
    'name',
    'namespace',
    'arguments',
    'input',
    'output',
  ],
];
const SHORT = 200;

/** An item with the fields that are known, its words in parts of nothing but text. Pure. */
export function toKnown(item: object): Fields {
  const known = Object.fromEntries(Object.entries(item).filter(([name]) => KNOWN.includes(name)));
  const { type, id, status, content, output } = known;
  // No model reads it again.
  if (type === 'reasoning') return { type };
  return {
    ...known,
    ...{ id: isShort(id) ? id : undefined, status: isShort(status) ? status : undefined },
    ...(Array.isArray(content) && { content: content.map(toPart) }),
    ...(Array.isArray(output) && { output: output.map(toPart) }),
  };
}

/** Whether a model reads it. Pure. */
export function isRead({ type }: { type?: unknown }): boolean {
  return type !== 'reasoning';
}

/** Items as OpenAI lists them: with an id, and their words in parts. */
export function withId(item: Fields): Fields {
  const { type = 'message', role, content } = item;
  const partType = role === 'assistant' ? 'output_text' : 'input_text';
  const words = typeof content === 'string' ? { content: [{ type: partType, text: content }] } : {};
  const id = item.id ?? `${type === 'message' ? 'msg' : 'item'}_${randomUUID().replaceAll('-', '')}`;
  return { ...item, ...words, type, id, status: item.status ?? 'completed' };
}

/** The id of an item of a response's answer. Pure. */
export function itemId(kind: string, responseId: string, index: number): string {
  return `${kind}_${responseId.slice(responseId.indexOf('_') + 1)}${String(index).padStart(4, '0')}`;
}

/** The response that an item's id is of: none where it is no such id. Pure. */
export function responseIdOf(id: string): string[] {
  const [, response] = /^(?:msg|rs|fc|ctc)_([0-9a-f]{32})\d{4,}$/.exec(id) ?? [];
  return response === undefined ? [] : [`resp_${response}`];
}

function toPart(part: { type?: unknown; text?: unknown }): Fields {
  const { type, text } = part;
  return { type, text, ...(type === 'output_text' && { annotations: [] }) };
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' && value.length <= SHORT;
}
