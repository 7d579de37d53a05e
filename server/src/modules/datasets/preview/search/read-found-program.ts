import { answerConfined } from '../../../../platform/confined/answer-confined.ts';
import { Unreadable } from '../table.ts';
import { searchDataFile } from './search-data-file.ts';

/** Entry point of `searchRows`'s confined process. */
await answerConfined(async (file: Parameters<typeof searchDataFile>[0]) => {
  try {
    return { found: await searchDataFile(file) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { unreadable: { sentence: error.message, param: error.param } };
  }
});
