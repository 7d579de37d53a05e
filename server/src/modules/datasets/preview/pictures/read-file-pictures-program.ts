import { answerConfined } from '../../../../platform/confined/answer-confined.ts';
import { readFilePictures } from './read-file-pictures.ts';

/** Entry point of `listFilePictures`'s confined process. */
await answerConfined(readFilePictures);
