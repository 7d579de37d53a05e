import { randomUUID } from 'node:crypto';
import { CHAT_BYTES_MAX, PICTURE_CHAT_BYTES_MAX } from '@bakehouse/contract/chat';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/responses';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { storableJson } from '../../../platform/db/storable-text.ts';
import { type AppError, invalidParam, notFoundError } from '../../../platform/errors.ts';
import {
  deleteOldest,
  deleteOne,
  deleteResponsesOf,
  insertResponse,
  type StoredResponse,
  selectItems,
  selectResponse,
  selectResponses,
} from './response-queries.ts';
import type { Item, ResponseBody } from './to-chat.ts';

/** Fields of each item to store. All other fields are dropped. */
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

/** Maximum stored per user. The oldest responses are deleted first. */
const RESPONSES_MAX = 1000;

const RESPONSES_BYTES_MAX = 50 * 1024 * 1024;

/** Maximum item references per input, because each may load another stored response. */
const REFERENCES_MAX = 100;

const PAGE = 20;

type Fields = Record<string, unknown>;

/** Returns the item with only the fields to store, and its text parts with only their type and text. */
function toKnown(item: object): Fields {
  const known = Object.fromEntries(Object.entries(item).filter(([name]) => KNOWN.includes(name)));
  const { type, id, status, content, output } = known;
  // Drop the content of thoughts, because no model reads it again.
  if (type === 'reasoning') return { type };
  return {
    ...known,
    ...{ id: isShort(id) ? id : undefined, status: isShort(status) ? status : undefined },
    ...(Array.isArray(content) && { content: content.map(toPart) }),
    ...(Array.isArray(output) && { output: output.map(toPart) }),
  };
}

/** Returns true if a model reads the item. */
function isRead({ type }: { type?: unknown }): boolean {
  return type !== 'reasoning';
}

/** Returns items in OpenAI's list format, with ids and text parts. */
function withId(item: Fields): Fields {
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

/**
 * Returns the id of the response to which an item belongs, as a list. The list is empty if the id is not an
 * item's.
 */
function responseIdOf(id: string): string[] {
  const [, response] = /^(?:msg|rs|fc|ctc)_([0-9a-f]{32})\d{4,}$/.exec(id) ?? [];
  return response === undefined ? [] : [`resp_${response}`];
}

function toPart(part: { type?: unknown; text?: unknown; image_url?: unknown }): Fields {
  const { type, text, image_url } = part;
  if (type === 'input_image') return { type, image_url };
  return { type, text, ...(type === 'output_text' && { annotations: [] }) };
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' && value.length <= SHORT;
}

type Kept = ResponseOf<typeof contract.getResponse>;

type OneOf = InputOf<typeof contract.getResponse>;

/**
 * Returns all items that the model reads: first the items of the previous response, then the new ones. Throws
 * AppError 'not_found', 'invalid_request'.
 */
export async function readInput(ctx: Context, asked: ResponseBody): Promise<Item[]> {
  const { previous_response_id: previous, input } = asked;
  const own = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input;
  assertReferenceLimit(own);
  const before = previous ? await findKept(ctx, previous, 'previous_response_id') : null;
  const earlier = before ? [...before.input, ...before.response.output].map(toKnown).filter(isRead) : [];
  const items = (await withReferred(ctx, own)).map(toKnown);
  // Limit the size, because every follow-up response stores and reads these items again.
  const isKept = ctx.config.responseDays > 0 && asked.store !== false;
  const bytesMax = isKept || earlier.length > 0 ? CHAT_BYTES_MAX : PICTURE_CHAT_BYTES_MAX;
  if (Buffer.byteLength(JSON.stringify([earlier, items])) > bytesMax) {
    const param = earlier.length > 0 ? 'previous_response_id' : 'input';
    const what = earlier.length > 0 ? 'the input and what was read before it' : 'its items';
    throw invalidParam(
      param,
      `${param}: ${what} have more than 1 MB. Send a shorter input, without old turns${earlier.length > 0 ? '' : ', or set store to false'}`,
    );
  }
  return [...earlier, ...items] as Item[];
}

/** Checks all references before it loads any of them. */
function assertReferenceLimit(items: Item[]): void {
  const places = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    if (item.type !== 'item_reference') continue;
    if (places.has(item.id))
      throw invalidParam(
        `input.${index}.id`,
        `input.${index}.id: input.${places.get(item.id)} names it already`,
      );
    places.set(item.id, index);
  }
  if (places.size > REFERENCES_MAX)
    throw invalidParam('input', `input: at most ${REFERENCES_MAX} items may be an item_reference`);
}

/** Replaces references by the stored items: clients refer to an earlier answer by its id. */
async function withReferred({ db, caller: { userId } }: Context, items: Item[]): Promise<Item[]> {
  const ids = items.flatMap((item) => (item.type === 'item_reference' ? [item.id] : []));
  if (ids.length === 0) return items;
  const known = await selectItems(db, { userId, ids, responseIds: [...new Set(ids.flatMap(responseIdOf))] });
  return items.map((item, index) => {
    if (item.type !== 'item_reference') return item;
    const found = known.get(item.id);
    if (!found)
      throw invalidParam(`input.${index}.id`, `input.${index}.id: there is no item '${item.id}' any more`);
    return found as Item;
  });
}

/** Returns a stored response of the caller. Throws AppError 'not_found'. */
export async function getResponse(ctx: Context, { params }: OneOf): Promise<Kept> {
  return (await findKept(ctx, params.response_id, 'response_id')).response as Kept;
}

/** Lists the input items of a response, newest first by default. Throws AppError 'not_found'. */
export async function listInputItems(
  ctx: Context,
  { params, query: { limit = 20, order = 'desc', after } }: InputOf<typeof contract.listInputItems>,
): Promise<ResponseOf<typeof contract.listInputItems>> {
  const { input } = await findKept(ctx, params.response_id, 'response_id');
  const all = order === 'desc' ? input.toReversed() : input;
  const first = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && first === 0) throw invalidParam('after', `after: there is no item '${after}'`);
  const data = all.slice(first, first + limit) as ResponseOf<typeof contract.listInputItems>['data'];
  return {
    ...{ object: 'list', data, has_more: first + limit < all.length },
    ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}

async function findKept(
  { db, caller: { userId } }: Context,
  id: string,
  param: string,
): Promise<StoredResponse> {
  const kept = await selectResponse(db, { userId, id });
  if (!kept) throw unknownResponse(id, param);
  return kept;
}

function unknownResponse(id: string, param: string): AppError {
  return notFoundError(`There is no response '${id}': it was not stored, was deleted, or has expired`, {
    param,
  });
}

/** Yields all of the caller's responses, for the data export. */
export async function* listResponses({ db, caller: { userId } }: Context) {
  for (let after = ''; ; ) {
    const page = await selectResponses(db, { userId, after, limit: PAGE });
    yield* page.map(({ input, response }) => ({ input, response }));
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? '';
  }
}

/** Stores a response and its input, without characters that the database cannot store. */
export async function saveResponse(ctx: Context, { input, response }: StoredResponse): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const kept = storableJson({ input: input.filter(isRead).map(withId), response });
    await insertResponse(tx, { userId, ...kept, now: ctx.clock.now() });
    await deleteOldest(tx, { userId, keep: RESPONSES_MAX, bytes: RESPONSES_BYTES_MAX });
  });
}

/** Deletes a response. Throws AppError 'not_found'. */
export async function deleteResponse(
  { db, caller: { userId } }: Context,
  { params: { response_id: id } }: InputOf<typeof contract.deleteResponse>,
): Promise<ResponseOf<typeof contract.deleteResponse>> {
  if (!(await deleteOne(db, { userId, id }))) throw unknownResponse(id, 'response_id');
  return { id, object: 'response', deleted: true };
}

/** Step: deletes the responses of a deleted user. */
export async function deleteUserResponses(tx: Transaction, userId: string): Promise<void> {
  await deleteResponsesOf(tx, userId);
}
