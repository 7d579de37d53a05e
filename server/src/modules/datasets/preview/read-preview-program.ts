import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { readPreview } from './read-preview.ts';
import { Unreadable } from './table.ts';

/** Entry point of `previewFile`'s confined process. */
await answerConfined(async (file: Parameters<typeof readPreview>[0]) => {
  try {
    return { preview: await readPreview(file) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { unreadable: { sentence: error.message, param: error.param } };
  }
});
