import { answerConfined } from '../../../../platform/confined/answer-confined.ts';
import { Unreadable } from '../table.ts';
import { readFound } from './read-found.ts';

/** Entry point of `searchRows`'s confined process. */
await answerConfined(async (file: Parameters<typeof readFound>[0]) => {
  try {
    return { found: await readFound(file) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { unreadable: { sentence: error.message, param: error.param } };
  }
});
