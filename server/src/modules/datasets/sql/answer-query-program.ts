import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { answerQuery, type Query } from './answer-query.ts';
import { RejectedQuery } from './rejected-query.ts';

/** Entry point of the confined process of `runSql` and `exportSql`. */
await answerConfined(async (query: Query) => {
  try {
    return { answer: await answerQuery(query) };
  } catch (error) {
    if (!(error instanceof RejectedQuery)) throw error;
    return { refused: error.message };
  }
});
