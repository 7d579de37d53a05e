import { expect, it } from 'vitest';
import { promptSlots, slotsByAddress } from './prompt-slots.ts';

type Take = ReturnType<typeof promptSlots>;

const ada = (prompt: string, epoch = 1) => ({ owner: 'ada', prompt, epoch });
const bob = (prompt: string, epoch = 1) => ({ owner: 'bob', prompt, epoch });

/** A request that is answered to its end. */
function answered(take: Take, request: Parameters<Take>[0]) {
  const slot = take(request);
  slot?.keep();
  slot?.release();
  return slot;
}

it("reuses a user's own prompt, and never another's", () => {
  const take = promptSlots(1);
  const number = ada('My number is 7391');
  expect(answered(take, number)).toMatchObject({ id: 0, reuse: false });
  expect(answered(take, ada('My number is 7391, and'))).toMatchObject({ id: 0, reuse: true });
  expect(answered(take, bob('My number is 7391'))).toMatchObject({ id: 0, reuse: false });
  // What Bob left there is not Ada's either.
  expect(answered(take, number)).toMatchObject({ reuse: false });
});

it('tells how much of a prompt a slot holds, and nothing of what another user left there', () => {
  const take = promptSlots(1);
  expect(answered(take, ada('Rye or wheat?'))).toMatchObject({ held: 0 });
  expect(answered(take, ada('Rye or spelt?'))).toMatchObject({ held: 'Rye or '.length });
  expect(answered(take, bob('Rye or spelt?'))).toMatchObject({ held: 0 });
});

it("leaves another's prompt unread after a request that was refused", () => {
  const take = promptSlots(1);
  answered(take, ada('My number is 7391'));
  // Too long, say: the model server has not touched what lies in the slot.
  take(bob('My number is 7391, and so on'))?.release();
  expect(answered(take, bob('My number is 7391'))).toMatchObject({ reuse: false });
});

it('goes on in the slot of the same conversation, and leaves those of others alone', () => {
  const take = promptSlots(4);
  const asked = (request: Parameters<Take>[0]) => answered(take, request);
  const bread = asked(ada('Bread is what I bake'));
  const cake = asked(ada('Cake is something else'));
  const other = asked(bob('Bread is what I bake'));
  expect(new Set([bread?.id, cake?.id, other?.id]).size).toBe(3);
  expect(asked(ada('Bread is what I bake. And then?'))).toMatchObject({ id: bread?.id, reuse: true });
  expect(asked(ada('Cake is something else. And then?'))).toMatchObject({ id: cake?.id, reuse: true });
  asked(ada('A third one'));
  // Nothing is free any more: rather an own slot than Bob's.
  expect(asked(ada('And a fourth'))?.id).not.toBe(other?.id);
});

it('reads long prompts in the last slots, and leaves the first to short ones', () => {
  const take = promptSlots(4);
  const long = (n: number) => ada(`${n} ${'rye '.repeat(1000)}`);
  // As many as one user may have at once, and as often as they like.
  expect([1, 2, 3].map((n) => answered(take, long(n))?.id)).toEqual([3, 2, 1]);
  expect([4, 5, 6].map((n) => answered(take, long(n))?.id)).not.toContain(0);
  expect(answered(take, bob('Hi'))).toMatchObject({ id: 0 });
  for (const n of [7, 8, 9]) take(long(n));
  expect(take(long(10))).toMatchObject({ id: 0 });
});

it('does not reuse what may have been used from elsewhere', () => {
  const take = promptSlots(1);
  answered(take, ada('x', 1));
  expect(answered(take, ada('x', 2))).toMatchObject({ reuse: false });
});

it('gives each request a slot of its own, and none to one too many', () => {
  const take = promptSlots(3);
  const ids = [take(ada('x')), take(ada('x')), take(ada('x'))].map((slot) => slot?.id);
  expect(new Set(ids).size).toBe(3);
  expect(take(ada('x'))).toBeNull();
});

it('remembers so many model servers, those that were asked last', () => {
  const slotsOf = slotsByAddress(1, 2);
  const isReused = (address: string) => answered(slotsOf(address), ada('What is rye?'))?.reuse;
  expect(isReused('one')).toBe(false);
  expect(isReused('two')).toBe(false);
  expect(isReused('one')).toBe(true);
  expect(isReused('three')).toBe(false);
  expect(isReused('one')).toBe(true);
  expect(isReused('two')).toBe(false);
});
