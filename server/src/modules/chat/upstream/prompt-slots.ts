import { SHORT_BYTES } from './server-turns.ts';

/** The owner of the prompt in a slot of a model server, as far as this process knows. */
type Slot = {
  busy: boolean;
  owner: string | null;
  /** The period in which only this process used the model server. */
  epoch: number;
  prompt: string;
  usedAt: number;
};

export type AcquiredSlot = {
  id: number;
  /** The slot contains a prompt of the same user and adapter, whose common prefix can be reused. */
  reuse: boolean;
  /** The number of characters of the prompt that the slot already contains. */
  held: number;
  /** Records that the request was answered completely, so the slot contains only its prompt. */
  keep: () => void;
  release: () => void;
};

/** Acquires a slot for a request; null if all are busy. */
type TakeSlot = (request: { owner: string; prompt: string; epoch: number }) => AcquiredSlot | null;

/** Longer prefixes do not identify a conversation any better. */
const COMPARED_LENGTH = 20_000;

/**
 * llama.cpp caches the last prompt of each slot and answers faster if a new prompt has the same prefix.
 * Through that timing, a user could find out what another user asked. Each request therefore gets its slot
 * from here, and may reuse its content only if the same user filled it through the same adapter and no other
 * process has used the server since.
 * llama.cpp fills each batch with the slots' prompts in order. Long prompts therefore start in the last
 * slots, and never in the first if another is free, so that short prompts are read first.
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
    // A new conversation prefers a slot without an owner, then the user's own slot.
    const fitting = isLong && free.length > 1 ? free.filter((one) => one !== slots[0]) : free;
    const unowned = slots.filter((one) => one.owner === null && fitting.includes(one));
    const slot = goesOn ?? unowned.at(isLong ? -1 : 0) ?? fitting.find(isOwn) ?? fitting[0];
    if (!slot) return null;
    const reuse = isOwn(slot);
    const held = reuse ? commonLength(slot.prompt, compared) : 0;
    uses += 1;
    // A request that fails before its prompt was read leaves another user's prompt in the slot.
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

/** The slots of each model server by its address; the least recently used servers are dropped. */
export type SlotsByAddress = (baseUrl: string) => TakeSlot;

/** Tracks the slots of up to `max` model servers with `count` slots each. */
export function slotsByAddress(count: number, max = 1000): SlotsByAddress {
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
