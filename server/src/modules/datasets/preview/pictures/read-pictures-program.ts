import { answerConfined } from '../../../../platform/confined/answer-confined.ts';
import { Unreadable } from '../table.ts';
import { readPictures } from './read-pictures.ts';

/** Entry point of `showPictures`'s confined process. */
await answerConfined(async (file: Parameters<typeof readPictures>[0]) => {
  try {
    return { pictures: await readPictures(file) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { unreadable: { sentence: error.message, param: error.param } };
  }
});
