import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { parseMetadata } from './parse-card.ts';

/** The program of `readCard`. */
await answerConfined(({ metadata }: { metadata: string }) => parseMetadata(metadata));
