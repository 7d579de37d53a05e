import { expect, it } from 'vitest';
import { promptSlots, promptSlotsByServer } from './prompt-slots.ts';

type Take = ReturnType<typeof promptSlots>;

const ada = (prompt: string, epoch = 1) => ({ owner: 'ada', prompt, epoch });
const bob = (prompt: string, epoch = 1) => ({ owner: 'bob', prompt, epoch });

/** Acquires a slot and releases it after a complete answer. */
function answered(take: Take, request: Parameters<Take>[0]) {
  const slot = take(request);
  slot?.keep();
  slot?.release();
  return slot;
}

it("reuses a user's own prompt and never another user's", () => {
  const take = promptSlots(1);
  const number = ada('My number is 7391');
  expect(answered(take, number)).toMatchObject({ id: 0, reuse: false });
  expect(answered(take, ada('My number is 7391, and'))).toMatchObject({ id: 0, reuse: true });
  expect(answered(take, bob('My number is 7391'))).toMatchObject({ id: 0, reuse: false });
  // Bob's prompt is now in the slot.
  expect(answered(take, number)).toMatchObject({ reuse: false });
});

it("reports the reusable length only for the user's own prompt", () => {
  const take = promptSlots(1);
  expect(answered(take, ada('Rye or wheat?'))).toMatchObject({ held: 0 });
  expect(answered(take, ada('Rye or spelt?'))).toMatchObject({ held: 'Rye or '.length });
  expect(answered(take, bob('Rye or spelt?'))).toMatchObject({ held: 0 });
});

it("never reuses another user's prompt, even if the request in between was rejected", () => {
  const take = promptSlots(1);
  answered(take, ada('My number is 7391'));
  // The model server rejects this prompt, e.g. because it is too long, and leaves the slot's content
  // unchanged.
  take(bob('My number is 7391, and so on'))?.release();
  expect(answered(take, bob('My number is 7391'))).toMatchObject({ reuse: false });
});

it("continues a conversation in its slot, and does not replace other users' prompts if it can avoid it", () => {
  const take = promptSlots(4);
  const asked = (request: Parameters<Take>[0]) => answered(take, request);
  const bread = asked(ada('Bread is what I bake'));
  const cake = asked(ada('Cake is something else'));
  const other = asked(bob('Bread is what I bake'));
  expect(new Set([bread?.id, cake?.id, other?.id]).size).toBe(3);
  expect(asked(ada('Bread is what I bake. And then?'))).toMatchObject({ id: bread?.id, reuse: true });
  expect(asked(ada('Cake is something else. And then?'))).toMatchObject({ id: cake?.id, reuse: true });
  asked(ada('A third one'));
  // All slots contain prompts. Replace one of the user's own rather than Bob's.
  expect(asked(ada('And a fourth'))?.id).not.toBe(other?.id);
});

it('reads long prompts in the last slots and reserves the first for short prompts', () => {
  const take = promptSlots(4);
  const long = (n: number) => ada(`${n} ${'rye '.repeat(1000)}`);
  // One user may send three requests in parallel. Do so twice.
  expect([1, 2, 3].map((n) => answered(take, long(n))?.id)).toEqual([3, 2, 1]);
  expect([4, 5, 6].map((n) => answered(take, long(n))?.id)).not.toContain(0);
  expect(answered(take, bob('Hi'))).toMatchObject({ id: 0 });
  for (const n of [7, 8, 9]) take(long(n));
  expect(take(long(10))).toMatchObject({ id: 0 });
});

it('does not reuse a slot that another process may have used', () => {
  const take = promptSlots(1);
  answered(take, ada('x', 1));
  expect(answered(take, ada('x', 2))).toMatchObject({ reuse: false });
});

it('gives each request its own slot, and none if all are busy', () => {
  const take = promptSlots(3);
  const ids = [take(ada('x')), take(ada('x')), take(ada('x'))].map((slot) => slot?.id);
  expect(new Set(ids).size).toBe(3);
  expect(take(ada('x'))).toBeNull();
});

it('remembers the most recently used model servers', () => {
  const slotsOf = promptSlotsByServer(1, 2);
  const isReused = (address: string) => answered(slotsOf(address), ada('What is rye?'))?.reuse;
  expect(isReused('one')).toBe(false);
  expect(isReused('two')).toBe(false);
  expect(isReused('one')).toBe(true);
  expect(isReused('three')).toBe(false);
  expect(isReused('one')).toBe(true);
  expect(isReused('two')).toBe(false);
});
