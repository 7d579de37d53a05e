import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { findFault, type WeightsExtension } from './check-model-file.ts';

/** The program behind `checkWeights`. */
await answerConfined(({ localPath, extension }: { localPath: string; extension: WeightsExtension }) =>
  findFault(localPath, extension),
);
