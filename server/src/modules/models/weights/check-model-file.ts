import type { CheckModelFile } from '../../assets/files/upload/upload-file.ts';
import { checkChatTemplates } from './check-chat-templates.ts';
import { checkWeights } from './check-weights.ts';

/** Checks a model's file before anything loads it: weights and chat templates. */
export const checkModelFile: CheckModelFile = async (sandbox, file) => {
  await checkWeights(sandbox, file);
  await checkChatTemplates(sandbox, file);
};
