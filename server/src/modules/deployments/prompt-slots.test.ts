import { expect, it } from 'vitest';
import { promptSlots } from './prompt-slots.ts';

const ada = (prompt: string, epoch: number | null = 1) => ({ owner: 'ada', prompt, epoch });
const bob = (prompt: string, epoch: number | null = 1) => ({ owner: 'bob', prompt, epoch });

it("reuses a user's own prompt, and never another's", () => {
  const take = promptSlots(1);
  const first = take(ada('My number is 7391'));
  expect(first).toMatchObject({ id: 0, reuse: false });
  first.release();
  const second = take(ada('My number is 7391, and'));
  expect(second).toMatchObject({ id: 0, reuse: true });
  second.release();
  const guess = take(bob('My number is 7391'));
  expect(guess).toMatchObject({ id: 0, reuse: false });
  guess.release();
  // What Bob left there is not Ada's either.
  expect(take(ada('My number is 7391')).reuse).toBe(false);
});

it('goes on in the slot of the same conversation, and leaves those of others alone', () => {
  const take = promptSlots(4);
  const asked = (request: Parameters<typeof take>[0]) => {
    const slot = take(request);
    slot.release();
    return slot;
  };
  const bread = asked(ada('Bread is what I bake'));
  const cake = asked(ada('Cake is something else'));
  const other = asked(bob('Bread is what I bake'));
  expect(new Set([bread.id, cake.id, other.id]).size).toBe(3);
  expect(asked(ada('Bread is what I bake. And then?'))).toMatchObject({ id: bread.id, reuse: true });
  expect(asked(ada('Cake is something else. And then?'))).toMatchObject({ id: cake.id, reuse: true });
  asked(ada('A third one'));
  // Nothing is free any more: rather an own slot than Bob's.
  expect(asked(ada('And a fourth')).id).not.toBe(other.id);
});

it('does not reuse what may have been used from elsewhere', () => {
  const take = promptSlots(1);
  take(ada('x', null)).release();
  const known = take(ada('x', 1));
  expect(known.reuse).toBe(false);
  known.release();
  expect(take(ada('x', 2)).reuse).toBe(false);
});

it('gives each request a slot of its own', () => {
  const take = promptSlots(3);
  const ids = [take(ada('x')), take(ada('x')), take(ada('x'))].map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
});
