import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { Unreadable } from '../preview/unreadable.ts';
import { findRowDifferences, isTooMuch, type RowsPair } from './find-row-differences.ts';

/** The program of `compareRows`. */
await answerConfined(async (pair: RowsPair) => {
  try {
    return { found: await findRowDifferences(pair) };
  } catch (error) {
    if (isTooMuch(error)) return { isTooMuch: true };
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
});
