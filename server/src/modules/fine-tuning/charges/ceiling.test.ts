import { describe, expect, test } from 'vitest';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { runCostMicro } from '../validation/estimate-run.ts';
import {
  assertCeilingAbove,
  defaultCeilingMicro,
  freeWorkMicro,
  isOverTime,
  remainingCeilingMicro,
  resumeCeilingMicro,
} from './ceiling.ts';

const run = { ceilingMicro: 150n, settledMicro: 40n, chargedMicro: 60n };

test('the default ceiling is 1.5 times the quote, rounded up, and never zero', () => {
  expect(defaultCeilingMicro(100n)).toBe(150n);
  expect(defaultCeilingMicro(101n)).toBe(152n);
  expect(defaultCeilingMicro(0n)).toBe(1n);
});

test('a round may cost what earlier rounds left of the ceiling', () => {
  expect(remainingCeilingMicro(run)).toBe(110n);
  expect(remainingCeilingMicro({ ...run, settledMicro: 200n })).toBe(0n);
});

test('the ceiling of a resumed run grows to 1.5 times the remaining cost, and never shrinks', () => {
  expect(resumeCeilingMicro(run, 20n)).toBe(150n);
  expect(resumeCeilingMicro(run, 100n)).toBe(250n);
});

test('refuses a ceiling that is already used up', () => {
  expect(() => assertCeilingAbove(run, 100n)).toThrow(/0.0001 BGL so far/);
  expect(() => assertCeilingAbove(run, 101n)).not.toThrow();
});

test('refuses a ceiling that would be used up by the saved work of a failed round', () => {
  const refusal =
    'The run has cost 0.0001 BGL so far, and the work that it has saved costs another 0.00003 BGL. Set a limit above 0.00013 BGL';
  expect(() => assertCeilingAbove(run, 130n, 30n)).toThrow(
    expect.objectContaining({ publicMessage: refusal }),
  );
  expect(() => assertCeilingAbove(run, 131n, 30n)).not.toThrow();
});

test('exceeds its time after four times its estimate, except in its last step or if the user chose the ceiling', () => {
  const at = { step: 1, stepsTotal: 9 };
  expect([400n, 401n].map((used) => isOverTime({ estimateMicro: 100n }, used, at))).toEqual([false, true]);
  expect(isOverTime({ estimateMicro: 100n }, 401n, { step: 0, stepsTotal: 0 })).toBe(true);
  expect(isOverTime({ estimateMicro: 100n }, 401n, { step: 8, stepsTotal: 9 })).toBe(false);
  expect(isOverTime({ estimateMicro: null }, 401n, at)).toBe(false);
});

describe('the free work that lets a run finish', () => {
  const price = defaultPrice('training:CPU');
  const quoted = {
    price,
    devices: 1,
    estimateMicro: null,
    quote: { total: '0.0001', total_usd: '0', items: [] },
  };
  const rounds = { settledMicro: 0n, chargedMicro: null, resumes: 0 };
  const lent = (step: number, stepsTotal: number, ceilingMicro: bigint, heldMicro = ceilingMicro) =>
    freeWorkMicro({ ...quoted, ...rounds, ceilingMicro, heldMicro }, { step, stepsTotal });
  const fiveMinutes = runCostMicro(price, 300, 1);

  test('is worth the held amount from the last step on, but at least five minutes', () => {
    expect([lent(0, 0, 150n), lent(1, 3, 150n, 149n)]).toEqual([0n, 0n]);
    expect([lent(2, 3, 150n), lent(3, 3, 150n), lent(1, 1, 150n)]).toEqual(Array(3).fill(fiveMinutes));
    expect(lent(2, 3, 3n * fiveMinutes)).toBe(3n * fiveMinutes);
  });

  test('is worth the ceiling once the ceiling is held', () => {
    expect(lent(1, 3, 150n)).toBe(150n);
    expect(lent(1, 3, 150n, 149n)).toBe(0n);
  });

  test('lasts up to four times the estimate if the user chose no ceiling', () => {
    const usual = { ...quoted, ...rounds, estimateMicro: 100n, ceilingMicro: 150n };
    const left = { step: 1, stepsTotal: 9 };
    expect(freeWorkMicro({ ...usual, heldMicro: 150n }, left)).toBe(250n);
    expect(freeWorkMicro({ ...usual, heldMicro: 149n }, left)).toBe(0n);
    expect(freeWorkMicro({ ...usual, resumes: 1, heldMicro: 150n }, left)).toBe(250n);
    expect(freeWorkMicro({ ...usual, heldMicro: 150n }, { step: 0, stepsTotal: 0 })).toBe(250n);
  });

  test('is nothing before the last step of a later round, because the cost of such a round is known', () => {
    const later = { ...quoted, ceilingMicro: 150n, settledMicro: 110n, chargedMicro: null, resumes: 1 };
    const lentTo = (step: number) => freeWorkMicro({ ...later, heldMicro: 40n }, { step, stepsTotal: 3 });
    expect([lentTo(1), lentTo(2)]).toEqual([0n, fiveMinutes]);
  });

  test('is worth the held amount once all steps are done, if the ceiling is below the quote', () => {
    expect([lent(1, 2, 50n), lent(2, 3, 50n)]).toEqual([0n, 0n]);
    expect(lent(2, 2, 50n)).toBe(50n);
  });
});
