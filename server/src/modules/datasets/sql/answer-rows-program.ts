import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { answerRows, type RowsQuery } from './answer-rows.ts';
import { RefusedQuery } from './refused-query.ts';

/** The program of `readTableRows`. */
await answerConfined(async (query: RowsQuery) => {
  try {
    return { answer: await answerRows(query) };
  } catch (error) {
    if (!(error instanceof RefusedQuery)) throw error;
    return { refused: error.message };
  }
});
