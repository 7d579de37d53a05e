import { randomUUID } from 'node:crypto';

type Fields = Record<string, unknown>;

/** Fields to store of each item. Other fields are dropped. */
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

/** Returns an item with only its known fields, and its text parts without other fields. */
export function toKnown(item: object): Fields {
  const known = Object.fromEntries(Object.entries(item).filter(([name]) => KNOWN.includes(name)));
  const { type, id, status, content, output } = known;
  // No model reads thoughts again.
  if (type === 'reasoning') return { type };
  return {
    ...known,
    ...{ id: isShort(id) ? id : undefined, status: isShort(status) ? status : undefined },
    ...(Array.isArray(content) && { content: content.map(toPart) }),
    ...(Array.isArray(output) && { output: output.map(toPart) }),
  };
}

/** Returns true if a model reads the item. */
export function isRead({ type }: { type?: unknown }): boolean {
  return type !== 'reasoning';
}

/** Returns items in OpenAI's list format, with ids and text parts. */
export function withId(item: Fields): Fields {
  const { type = 'message', role, content } = item;
  const partType = role === 'assistant' ? 'output_text' : 'input_text';
  const words = typeof content === 'string' ? { content: [{ type: partType, text: content }] } : {};
  const id = item.id ?? `${type === 'message' ? 'msg' : 'item'}_${randomUUID().replaceAll('-', '')}`;
  return { ...item, ...words, type, id, status: item.status ?? 'completed' };
}

/** Returns the id of an item in a response's answer. */
export function itemId(kind: string, responseId: string, index: number): string {
  return `${kind}_${responseId.slice(responseId.indexOf('_') + 1)}${String(index).padStart(4, '0')}`;
}

/** Returns the response to which an item id belongs, or an empty list for other ids. */
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
