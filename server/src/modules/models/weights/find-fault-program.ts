import { answerConfined } from '../../../platform/confined/answer-confined.ts';
import { findFault, type WeightsExtension } from './find-fault.ts';

/** The program behind `checkWeights`. */
await answerConfined(({ localPath, extension }: { localPath: string; extension: WeightsExtension }) =>
  findFault(localPath, extension),
);
