import { ownedByAnother } from '../../errors.ts';

/** Both spellings of the field. A test finds endpoints that name a user id elsewhere. */
const NAMES = ['userId', 'user_id'];
/** Parts of a body that may contain the field as well. */
const PARTS = ['fine_tune_payload', 'fineTunePayload'];

type Input = { params?: unknown; query?: unknown; body?: unknown };

/** Throws AppError 'forbidden' if the input names a user other than the caller. */
export function assertOwnIds({ params, query, body }: Input, userId: string): void {
  const places: [string, unknown][] = [
    ['', params],
    ['', query],
    ['', body],
    ...PARTS.map((part): [string, unknown] => [`${part}.`, field(body, part)]),
  ];
  const owners = [
    ...places.flatMap(([path, place]) => NAMES.map((name) => [path + name, field(place, name)] as const)),
    ['owner', withoutDollar(field(query, 'owner'))] as const,
  ];
  for (const [param, owner] of owners) {
    if (owner !== undefined && owner !== userId) throw ownedByAnother(param);
  }
}

/** The original product's Python client prefixes the owner's id with a dollar. */
function withoutDollar(owner: unknown): unknown {
  return typeof owner === 'string' && owner.startsWith('$') ? owner.slice(1) : owner;
}

function field(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null && name in object
    ? (object as Record<string, unknown>)[name]
    : undefined;
}
