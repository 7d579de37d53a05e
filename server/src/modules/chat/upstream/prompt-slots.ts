import { SHORT_BYTES } from './server-turns.ts';

/** Whose prompt a slot of a model server keeps, as far as this process can know. */
type Slot = {
  busy: boolean;
  owner: string | null;
  /** Of the time in which this process alone used the model server. */
  epoch: number;
  prompt: string;
  usedAt: number;
};

export type TakenSlot = {
  id: number;
  /** The slot holds a prompt of the same user and adapter: what is equal need not be read again. */
  reuse: boolean;
  /** How many characters of the prompt it holds already. */
  held: number;
  /** The request was answered to its end, so the slot holds its prompt and nothing of before. */
  keep: () => void;
  release: () => void;
};

/** Takes a slot for a request; null where all are busy. */
type TakeSlot = (request: { owner: string; prompt: string; epoch: number }) => TakenSlot | null;

/** More of a prompt says nothing more about which conversation it belongs to. */
const COMPARED_LENGTH = 20_000;

/**
 * llama.cpp keeps the last prompt of each slot, and a request that begins alike is answered faster:
 * whoever came upon another user's slot could tell by the time what that user had asked. So each
 * request is given its slot, and may reuse what is in it only if the same user filled it, through
 * the same adapter, and nobody but this process has used the server since.
 * It fills each batch with the prompts of its slots in their order: long ones begin in the last slots, and
 * never in the first where another is free, so that short ones come before them.
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
    // Another conversation begins where nothing is lost, and rather takes the place of an own one.
    const fitting = isLong && free.length > 1 ? free.filter((one) => one !== slots[0]) : free;
    const unowned = slots.filter((one) => one.owner === null && fitting.includes(one));
    const slot = goesOn ?? unowned.at(isLong ? -1 : 0) ?? fitting.find(isOwn) ?? fitting[0];
    if (!slot) return null;
    const reuse = isOwn(slot);
    const held = reuse ? commonLength(slot.prompt, compared) : 0;
    uses += 1;
    // A request that is refused, or ends before its prompt was read, leaves what another user asked.
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

/** The slots of each model server, by its address; of those that were not asked for longest nothing is kept. */
export type SlotsByAddress = (baseUrl: string) => TakeSlot;

/** Remembers what the slots of `max` model servers hold, `count` in each. */
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
