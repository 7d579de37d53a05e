import { SHORT_BYTES } from './server-turns.ts';

/**
 * A slot of a model server, with what this process knows about the prompt in it. `owner` is the user and
 * adapter of the prompt, or null if unknown.
 */
type Slot = {
  busy: boolean;
  owner: string | null;
  /** The value of `GatewayPresence.alone` when the prompt was read. */
  epoch: number;
  prompt: string;
  usedAt: number;
};

export type AcquiredSlot = {
  id: number;
  /** True if the slot contains a prompt of the same user and adapter, whose common prefix can be reused. */
  reuse: boolean;
  /** Number of characters at the start of the new prompt that the slot already contains. */
  held: number;
  /** Call after a complete answer: the slot then contains this request's prompt and no other. */
  keep: () => void;
  release: () => void;
};

/** Acquires a slot for a request. Returns null if all are busy. */
type TakeSlot = (request: { owner: string; prompt: string; epoch: number }) => AcquiredSlot | null;

/** Compare at most this many characters; more do not help to recognise a conversation. */
const COMPARED_LENGTH = 20_000;

/**
 * Assigns the slots of a llama.cpp server to requests. llama.cpp caches the last prompt of each slot, and
 * answers faster if a new prompt has the same prefix. A user could use this timing to find out what another
 * user has asked. Therefore a request may reuse a slot's content only if the same user filled it through the
 * same adapter, and if no other process has used the server since then. llama.cpp reads the prompts slot by
 * slot, in order. Long prompts therefore go to the last slots, and to the first slot only if no other is
 * free, so that short prompts are read first.
 */
export function promptSlots(count: number): TakeSlot {
  let uses = 0;
  const slots: Slot[] = Array.from({ length: count }, () => ({
    busy: false,
    owner: null,
    epoch: -1,
    prompt: '',
    usedAt: 0,
  }));

  return ({ owner, prompt, epoch }) => {
    const isLong = Buffer.byteLength(prompt) > SHORT_BYTES;
    const compared = prompt.slice(0, COMPARED_LENGTH);
    const isOwn = (slot: Slot) => slot.owner === owner && slot.epoch === epoch;
    const free = slots.filter((slot) => !slot.busy).toSorted((a, b) => a.usedAt - b.usedAt);
    const [closest] = free
      .filter(isOwn)
      .map((slot) => ({ slot, alike: commonLength(slot.prompt, compared) }))
      .sort((a, b) => b.alike - a.alike);
    const goesOn = closest && closest.alike * 2 > closest.slot.prompt.length ? closest.slot : null;
    // For a new conversation, prefer a slot without an owner, then a slot of the same user.
    const fitting = isLong && free.length > 1 ? free.filter((one) => one !== slots[0]) : free;
    const unowned = slots.filter((one) => one.owner === null && fitting.includes(one));
    const slot = goesOn ?? unowned.at(isLong ? -1 : 0) ?? fitting.find(isOwn) ?? fitting[0];
    if (!slot) return null;
    const reuse = isOwn(slot);
    const held = reuse ? commonLength(slot.prompt, compared) : 0;
    uses += 1;
    // Forget the owner until `keep` is called. If the request fails before its prompt was read, the slot
    // still contains the earlier user's prompt.
    Object.assign(slot, { busy: true, owner: null, epoch: -1, prompt: '', usedAt: uses });
    return {
      id: slots.indexOf(slot),
      reuse,
      held,
      keep: () => Object.assign(slot, { owner, epoch, prompt: compared }),
      release: () => {
        slot.busy = false;
      },
    };
  };
}

/**
 * Returns the slots of the model server with this address. Only the most recently used servers are
 * remembered.
 */
export type SlotsByAddress = (baseUrl: string) => TakeSlot;

/** Tracks the slots of up to `max` model servers with `count` slots each. */
export function promptSlotsByServer(count: number, max = 1000): SlotsByAddress {
  const known = new Map<string, TakeSlot>();
  return (baseUrl) => {
    const slots = known.get(baseUrl) ?? promptSlots(count);
    known.delete(baseUrl);
    known.set(baseUrl, slots);
    const [longestUnused] = known.keys();
    if (known.size > max && longestUnused !== undefined) known.delete(longestUnused);
    return slots;
  };
}

function commonLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) if (a[at] !== b[at]) return at;
  return end;
}
