import { answerConfined } from '../../../../platform/confined/answer-confined.ts';
import { Unreadable } from '../table.ts';
import { readColumns } from './read-columns.ts';

/** Entry point of `describeColumns`'s confined process. */
await answerConfined(async (file: Parameters<typeof readColumns>[0]) => {
  try {
    return { columns: await readColumns(file) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { unreadable: { sentence: error.message, param: error.param } };
  }
});
