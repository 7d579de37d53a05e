import { answerConfined } from '../../../../platform/confined/answer-confined.ts';
import { readFilePictures } from './read-file-pictures.ts';

/** The program of `listFilePictures`. */
await answerConfined(readFilePictures);
